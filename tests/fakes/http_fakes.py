# SPDX-License-Identifier: Apache-2.0
"""Small servers that answer as Google's metadata server, the Cloud TPU API and
the Kubernetes API do, over real sockets, with faults.

  with Fake({"/path": Answer("body")}) as fake:
      fake.address, fake.requests
"""
import json
import pathlib
import socket
import ssl
import subprocess
import threading

METADATA = "/computeMetadata/v1/"
KUBERNETES = ("/api/", "/apis/")
TPU_API = "/v2/projects/"
TOKEN = "secret-token"  # of the service account


class Answer:
    """What one path gives. Faults: hang, reset, half, wrong_header, once_503."""

    def __init__(self, body="", status=200, fault="", headers=None):
        self.body = body if isinstance(body, str) else json.dumps(body)
        self.status = status
        self.fault = fault
        self.headers = headers or {}


def refusal(method, target, headers):
    """What is answered to who does not say who asks, or for what, or would do
    more than read; else None."""
    if method not in ("GET", "CONNECT"):
        return Answer("Method Not Allowed", 405)
    if (target.startswith(METADATA)
            and headers.get("Metadata-Flavor") != "Google"):
        return Answer("Missing Metadata-Flavor:Google header.", 403)
    if (target.startswith(KUBERNETES)
            and headers.get("Authorization") != f"Bearer {TOKEN}"):
        return Answer({"kind": "Status", "status": "Failure", "code": 401,
                       "reason": "Unauthorized", "message": "Unauthorized"},
                      401)
    if (target.startswith(TPU_API)
            and not headers.get("Authorization", "").startswith("Bearer ")):
        return Answer({"error": {
            "code": 401, "status": "UNAUTHENTICATED",
            "message": "Request is missing required authentication "
                       "credential."}}, 401)
    return None


class Fake:
    """One server; every connection is answered by a thread and then closed."""

    def __init__(self, answers, flavor=True, tls=None):
        self.answers = answers
        self.flavor = flavor
        self.requests = []
        self._seen = set()
        self._stop = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._tls = None
        if tls:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(*tls)
        self.port = self._listener.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        # A number that is closed under the thread may be the next fake's.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _accept(self):
        while not self._stop.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,),
                             daemon=True).start()

    def _serve(self, connection):
        try:
            if self._tls:
                connection = self._tls.wrap_socket(connection,
                                                   server_side=True)
            with connection:
                head = self._read_head(connection)
                if head:
                    self._answer(connection, head)
        except OSError:
            pass

    @staticmethod
    def _read_head(connection):
        data = b""
        while b"\r\n\r\n" not in data:
            more = connection.recv(4096)
            if not more:
                return ""
            data += more
        return data.decode("latin-1")

    def _answer(self, connection, head):
        method, target, _ = head.split("\r\n")[0].split(" ")
        headers = dict(line.split(": ", 1)
                       for line in head.split("\r\n")[1:] if ": " in line)
        self.requests.append((method, target, headers))
        answer = (refusal(method, target, headers) or self.answers.get(target)
                  or self.answers.get(target.split("?")[0], Answer("no", 404)))
        if answer.fault == "hang":
            self._stop.wait(30)
            return
        if answer.fault == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                  b"\x01\0\0\0\0\0\0\0")
            return
        status = answer.status
        if answer.fault == "once_503" and target not in self._seen:
            self._seen.add(target)
            status = 503
        body = answer.body.encode()
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}",
                 "Connection: close"]
        if self.flavor and answer.fault != "wrong_header":
            lines.append("Metadata-Flavor: Google")
        lines += [f"{name}: {value}" for name, value in answer.headers.items()]
        if answer.fault == "half":
            body = body[:len(body) // 2]
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def tpu_vm(worker=0, hosts=("10.0.0.1", "10.0.0.2"), **changes):
    """The attributes of a TPU VM; a change replaces one: agent_worker_number=…"""
    attributes = {
        "agent-worker-number": Answer(str(worker)),
        "worker-network-endpoints": Answer(
            ",".join(f"n-{i}:{i}:{ip}" for i, ip in enumerate(hosts))),
        "tpu-env": Answer("ACCELERATOR_TYPE: 'v4-16'\n"
                          "RUNTIME_VERSION: 'tpu-vm-tf-2.11.0'\n"),
    }
    for name, answer in changes.items():
        attributes[name.replace("_", "-")] = answer
    return {f"{METADATA}instance/attributes/{name}": answer
            for name, answer in attributes.items()}


def tpu_api(**changes):
    """Zone z of project p has the TPUs `t` and `other`; `far` is in zone y."""
    node = {"state": "READY", "health": "HEALTHY", "acceleratorType": "v3-8",
            "networkEndpoints": [{"ipAddress": "10.0.0.9", "port": 8470}]}
    node.update(changes)
    base = "/v2/projects/p/locations/"

    def names(zone, *those):
        return [{"name": f"projects/p/locations/{zone}/nodes/{one}"}
                for one in those]
    return {base + "z/nodes/t": Answer(node),
            base + "z/nodes": Answer({"nodes": names("z", "t", "other")}),
            base + "-/nodes": Answer({"nodes": names("z", "t", "other") +
                                      names("y", "far")})}


def kubernetes(kind="@kubernetes"):
    """Pod train-1-x of the Indexed Job `train` in namespace team."""
    space = "/api/v1/namespaces/team/"
    pod = {"metadata": {"name": "train-1-x", "labels": {"job-name": "train"},
                        "ownerReferences": [{"kind": "Job", "name": "train",
                                             "controller": True}]},
           "spec": {"subdomain": "svc"}}
    if kind == "@kubernetes_without_service":
        pod["spec"] = {}
    answers = {
        space + "pods/train-1-x": Answer(pod),
        space + "services": Answer({"items": []}),
        "/apis/batch/v1/namespaces/team/jobs/train": Answer(
            {"spec": {"parallelism": 2, "completionMode": "Indexed"}})}
    if kind == "@kubernetes_without_rights":
        answers[space + "pods/train-1-x"] = Answer(
            {"message": "pods is forbidden"}, 403)
    return answers


def certificate(folder):
    """A certificate of 127.0.0.1 that signs itself: (cert, key)."""
    cert, key = pathlib.Path(folder, "ca.crt"), pathlib.Path(folder, "key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
         "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-out",
         cert, "-keyout", key], check=True, capture_output=True, timeout=30)
    return str(cert), str(key)


def service_account(folder):
    """What Kubernetes mounts into a pod, beside a certificate()."""
    pathlib.Path(folder, "token").write_text(TOKEN + "\n")
    pathlib.Path(folder, "namespace").write_text("team\n")
