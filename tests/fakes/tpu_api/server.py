# SPDX-License-Identifier: Apache-2.0
"""The sockets: requests in, the cloud's and the identities' answers out."""
import http.server
import json
import re
import socket
import ssl
import threading
import time
import urllib.parse

from . import answers
from .authority import make_authority
from .cloud import Cloud
from .identity import Identity, OAuthRefusal, PERMISSIONS, SCOPE
from .virtual_clock import VirtualClock

NODES = re.compile(r"/v(?:1|2|2alpha1)/(projects/([^/]+)/locations/([^/]+))/nodes"
                   r"(?:/([^/:]+))?(?::(start|stop))?")
QUEUED = re.compile(r"/v2(?:alpha1)?/(projects/([^/]+)/locations/([^/]+))"
                    r"/queuedResources(?:/([^/:]+))?(?::(reset))?")
CATALOGUE = re.compile(r"/v2(?:alpha1)?/(projects/([^/]+)/locations/([^/]+))/"
                       r"(acceleratorTypes|runtimeVersions)")
OPERATIONS = re.compile(r"/v2(?:alpha1)?/(projects/([^/]+)/locations/([^/]+)/"
                        r"operations)(?:/([^/:]+))?(?::(cancel))?")
LOCATIONS = re.compile(r"/v2(?:alpha1)?/projects/([^/]+)/locations")
PROJECT = re.compile(r"/v1(?:beta1)?/projects/([^/:]+)((?:/|:).*)?")
IMPERSONATE = re.compile(r"/v1/projects/-/serviceAccounts/([^/:]+)"
                         r":generateAccessToken")


class Reply:
    """An answer that a test puts before the real one. Faults: hang, reset,
    half (of the body), lost (it was done, and nobody hears of it)."""

    def __init__(self, body="", status=200, fault="", headers=None):
        self.body = body if isinstance(body, str) else json.dumps(body)
        self.status, self.fault = status, fault
        self.headers = {"Content-Type": "text/html" if self.body.startswith(
            "<") else "application/json", **(headers or {})}


def refused(refusal):
    return Reply(refusal.body(), refusal.http_status)


class Script:
    def __init__(self, method, pattern, replies, always):
        self.method, self.pattern = method, re.compile(pattern)
        self.replies, self.always = list(replies), always


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except (ConnectionError, ssl.SSLError, socket.timeout):
            self.close_connection = True

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length).decode()
        api = self.server.api
        reply = api.reply(self.command, self.path, self.headers, body,
                          self.server is api.metadata_server)
        if reply.fault == "hang":
            api.stop.wait(60)
            self.close_connection = True
            return
        if reply.fault == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                       b"\x01\0\0\0\0\0\0\0")
            self.connection.close()
            self.close_connection = True
            return
        data = reply.body.encode()
        self.send_response(reply.status)
        self.send_header("Content-Length", str(len(data)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if reply.fault == "half":
            data = data[:len(data) // 2]
            self.close_connection = True
        self.wfile.write(data)

    def date_time_string(self, timestamp=None):
        api = self.server.api
        return super().date_time_string(timestamp or api.clock.now() +
                                        api.date_skew)

    do_GET = do_POST = do_DELETE = do_PATCH = answer


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, api, tls=None):
        self.api = api
        super().__init__(("127.0.0.1", 0), Handler)
        self.tls = tls

    def finish_request(self, request, client_address):
        if self.tls:
            request.settimeout(30)
            request = self.tls.wrap_socket(request, server_side=True)
        try:
            super().finish_request(request, client_address)
        finally:
            request.close()

    def handle_error(self, *_):
        """A client that went away or does not trust us is no news."""


class TpuApi:
    """The API, its token endpoints and a metadata server."""

    PAGE = 2  # items, whatever is asked for

    def __init__(self, folder, speed=1.0):
        self.folder = folder
        self.clock = VirtualClock(speed)
        self.ca, cert, key = make_authority(folder)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(cert, key)
        self.stop = threading.Event()
        self.delay_s = 0.0
        self.date_skew = 0.0
        self.requests = []  # (method, path, headers, body)
        self.scripts = []
        self.server = Server(self, tls)
        self.metadata_server = Server(self)
        self.url = f"https://127.0.0.1:{self.server.server_port}"
        self.metadata_host = f"127.0.0.1:{self.metadata_server.server_port}"
        self.cloud = Cloud(self.clock)
        self.identity = Identity(self.clock, self.url, folder)

    def __enter__(self):
        for server in (self.server, self.metadata_server):
            threading.Thread(target=server.serve_forever, args=(0.02,),
                             daemon=True).start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for server in (self.server, self.metadata_server):
            server.shutdown()
            server.server_close()

    def reset(self):
        """An empty cloud, nobody known, nothing asked yet."""
        self.requests.clear()
        self.scripts.clear()
        self.delay_s = self.date_skew = 0.0
        self.clock = VirtualClock()
        self.cloud = Cloud(self.clock)
        self.identity = Identity(self.clock, self.url, self.folder)

    def environment(self, **more):
        """What leads a client here, by the variables of Google's own tools;
        without credentials."""
        return {"CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU": self.url + "/",
                **{f"CLOUDSDK_API_ENDPOINT_OVERRIDES_{name}": self.url + "/"
                   for name in ("CLOUDRESOURCEMANAGER", "SERVICEUSAGE",
                                "CLOUDBILLING")},
                "CLOUDSDK_AUTH_TOKEN_HOST": self.url + "/token",
                "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE": self.ca,
                "GOOGLE_CLOUD_PROJECT": "p", **more}

    def token(self, principal="me@example.com", scopes=(SCOPE,)):
        return self.identity.give(principal, list(scopes))

    def script(self, method, pattern, *replies, always=False):
        """The next requests that match get these replies; `always`: all of
        them get the one. Method None: any."""
        self.scripts.append(Script(method, pattern, replies, always))

    def asked(self, pattern, method=None):
        """The requests whose path matches."""
        return [one for one in list(self.requests)
                if re.search(pattern, one[1]) and
                method in (None, one[0])]

    # How a request is answered.

    def reply(self, method, path, headers, body, is_metadata):
        self.requests.append((method, path, dict(headers), body))
        if self.delay_s:  # how far away the server that is played is
            time.sleep(self.delay_s)
        for script in self.scripts:
            if (script.replies and script.method in (None, method) and
                    script.pattern.search(path)):
                reply = (script.replies[0] if script.always
                         else script.replies.pop(0))
                if reply.fault == "lost":
                    self.of_all(method, path, headers, body, is_metadata)
                    return Reply(fault="reset")
                return reply
        return self.of_all(method, path, headers, body, is_metadata)

    def of_all(self, method, path, headers, body, is_metadata):
        try:
            if is_metadata:
                return self.of_metadata(path, headers)
            answer = self.of_identity(method, path, headers, body)
            if answer is None:
                answer = self.of_project(method, path, headers, body)
            if answer is None:
                answer = self.of_cloud(method, path, headers, body)
            return Reply(answer)
        except OAuthRefusal as refusal:
            return Reply(refusal.body, refusal.status)
        except answers.Refusal as refusal:
            return refused(refusal)

    def of_metadata(self, path, headers):
        flavor = {"Metadata-Flavor": "Google"}
        if headers.get("Metadata-Flavor") != "Google":
            return Reply("no flavor", 403, headers=flavor)
        text = self.identity.metadata(
            path.removeprefix("/computeMetadata/v1").lstrip("/")
            .replace("&recursive=true", "").replace("?recursive=true", ""))
        kind = {"Content-Type": "application/json" if text and
                text.startswith("{") else "application/text"}
        return (Reply("<html>", 404, headers=flavor) if text is None
                else Reply(text, headers={**flavor, **kind}))

    @staticmethod
    def bearer(headers):
        return headers.get("Authorization", "").removeprefix("Bearer ")

    def of_identity(self, method, path, headers, body):
        if method == "GET" and path.startswith("/subject"):
            return {"id_token": self.identity.subject_token()}
        if method != "POST":
            return None
        match = IMPERSONATE.fullmatch(path)
        if match:
            return self.identity.impersonate(self.bearer(headers), match[1],
                                             json.loads(body))
        form = dict(urllib.parse.parse_qsl(body))
        if path == "/token":
            return self.identity.token(form)
        if path == "/v1/token":
            return self.identity.exchange(form)
        if path == "/v1/oauthtoken":
            return self.identity.workforce(form, headers.get("Authorization"))
        return None

    def of_project(self, method, path, headers, body):
        """What the services around the API say of a project: resource manager,
        service usage, billing."""
        match = PROJECT.fullmatch(path.partition("?")[0])
        if not match:
            return None
        project, rest = match[1], match[2] or ""
        principal = self.caller(headers)
        cloud = self.cloud
        if project not in cloud.projects:
            raise answers.Refusal(7, "The caller does not have permission")
        number = cloud.projects[project]
        if rest == "" and method == "GET":
            return {"projectId": project, "projectNumber": number,
                    "lifecycleState": "ACTIVE"}
        if rest == ":testIamPermissions":
            asked = json.loads(body)["permissions"]
            for one in asked:
                if one not in PERMISSIONS:
                    raise answers.Refusal(
                        3, f"Permission {one} is not valid for this resource.")
            allowed = self.identity.permissions.get(principal)
            return {"permissions": [one for one in asked
                                    if allowed is None or one in allowed]}
        if rest == "/services/tpu.googleapis.com:enable":
            if method != "POST":
                raise answers.Refusal(12, "not part of this API")
            cloud.disabled.discard(project)
            return {"name": "operations/acf.p2-" + number, "done": True}
        if rest == "/services/tpu.googleapis.com":
            return {"name": f"projects/{number}{rest}",
                    "state": "DISABLED" if project in cloud.disabled
                    else "ENABLED"}
        if rest == "/billingInfo":
            billed = project not in cloud.unbilled
            account = "billingAccounts/000000-AAAAAA-000000" if billed else ""
            return {"name": f"projects/{project}/billingInfo",
                    "billingAccountName": account, "billingEnabled": billed}
        if rest.endswith("/consumerQuotaMetrics"):
            return {"metrics": [
                {"metric": "tpu.googleapis.com/" + metric,
                 "consumerQuotaLimits": [{
                     "unit": "1/{project}/{region}", "quotaBuckets": [{
                         "effectiveLimit": str(limit),
                         "dimensions": {"region": region}}]}]}
                for (metric, region), limit in cloud.quota.items()]}
        return None

    def caller(self, headers):
        token = self.bearer(headers)
        if not token:
            raise answers.anonymous()
        try:
            return self.identity.principal_of(token)[0]
        except OAuthRefusal as refusal:
            raise answers.unauthenticated() from refusal

    def check_caller(self, headers, project, permission, resource):
        token = self.bearer(headers)
        if not token:
            raise answers.anonymous()
        try:
            principal, scopes = self.identity.principal_of(token)
        except OAuthRefusal as refusal:
            raise answers.unauthenticated() from refusal
        if SCOPE not in " ".join(scopes).split():
            raise answers.scope_insufficient()
        self.cloud.check_project(project)
        allowed = self.identity.permissions.get(principal)
        if allowed is not None and permission not in allowed:
            raise answers.permission_denied(permission, resource)

    def page(self, kind, items, query, unreachable=()):
        """At most PAGE items, and where the next begin."""
        start = int(query.get("pageToken") or 0)
        size = min(int(query.get("pageSize") or self.PAGE), self.PAGE)
        answer = {kind: items[start:start + size]}
        if start + size < len(items):
            answer["nextPageToken"] = str(start + size)
        if unreachable:
            answer["unreachable"] = list(unreachable)
        return answer

    def of_cloud(self, method, path, headers, body):
        path, _, text = path.partition("?")
        path = urllib.parse.unquote(path)
        query = dict(urllib.parse.parse_qsl(text))
        json_body = json.loads(body) if body else {}
        with self.cloud.lock:
            for pattern, answer in ((NODES, self.of_nodes),
                                    (QUEUED, self.of_queued),
                                    (CATALOGUE, self.of_catalogue),
                                    (OPERATIONS, self.of_operations)):
                match = pattern.fullmatch(path)
                if match:
                    return answer(method, match, query, json_body, headers)
            match = LOCATIONS.fullmatch(path)
            if match and method == "GET":
                self.check_caller(headers, match[1], "tpu.locations.list",
                                  path)
                return self.page("locations",
                                 self.cloud.catalogue.locations(match[1]),
                                 query)
        raise answers.Refusal(5, f"Method not found: {path}")

    def listed(self, kind, items, match, query, to_json):
        _, project, zone = match[1], match[2], match[3]
        if zone != "-":
            self.cloud.check_zone(project, zone)
        found, lost = [], []
        for name in sorted(items):
            of_project, of_zone = name.split("/")[1], name.split("/")[3]
            if of_project == project and zone in ("-", of_zone):
                if of_zone not in self.cloud.unreachable:
                    found.append(to_json(items[name]))
        if zone == "-":
            lost = [f"projects/{project}/locations/{one}"
                    for one in sorted(self.cloud.unreachable)]
        return self.page(kind, found, query, lost)

    def of_nodes(self, method, match, query, body, headers):
        parent, project, zone, node_id, verb = match.groups()
        name = f"{parent}/nodes/{node_id}"
        what = verb or {"GET": "get" if node_id else "list", "POST": "create",
                        "DELETE": "delete", "PATCH": "update"}[method]
        self.check_caller(headers, project, f"tpu.nodes.{what}",
                          name if node_id else parent)
        cloud = self.cloud
        if what == "list":
            cloud.settle()
            return self.listed("nodes", cloud.nodes, match, query,
                               cloud.node_json)
        cloud.check_zone(project, zone)
        if what == "get":
            return cloud.node_json(cloud.find(cloud.nodes, name))
        if what == "create":
            if "requestId" in query and match.string.startswith("/v2/"):
                raise answers.Refusal(
                    3, 'Invalid JSON payload received. Unknown name '
                    '"requestId": Cannot bind query parameter. Field '
                    "'requestId' could not be found in request message.")
            return cloud.create_node(parent, query.get("nodeId", ""), body,
                                     query.get("requestId", ""))
        if what == "delete":
            return cloud.delete_node(name)
        if verb:
            return cloud.change_node(name, verb)
        raise answers.Refusal(12, "not part of this fake")

    def of_queued(self, method, match, query, body, headers):
        parent, project, zone, queued_id, verb = match.groups()
        name = f"{parent}/queuedResources/{queued_id}"
        what = verb or {"GET": "get" if queued_id else "list",
                        "POST": "create", "DELETE": "delete"}[method]
        self.check_caller(headers, project, f"tpu.nodes.{what}",
                          name if queued_id else parent)
        cloud = self.cloud
        if what == "list":
            cloud.settle()
            return self.listed("queuedResources", cloud.queued, match, query,
                               cloud.queued_json)
        cloud.check_zone(project, zone)
        if what == "get":
            return cloud.queued_json(cloud.find(cloud.queued, name))
        if what == "create":
            return cloud.create_queued(parent,
                                       query.get("queuedResourceId", ""),
                                       body, query.get("requestId", ""))
        if what == "delete":
            return cloud.delete_queued(name, query.get("force") == "true")
        raise answers.Refusal(12, "not part of this fake")

    def of_catalogue(self, method, match, query, _, headers):
        parent, project, zone, kind = match.groups()
        self.check_caller(headers, project, f"tpu.{kind.lower()}.list", parent)
        if method != "GET":
            raise answers.Refusal(12, "not part of this API")
        catalogue = self.cloud.catalogue
        of_zone = (catalogue.types if kind == "acceleratorTypes"
                   else catalogue.versions)
        if zone != "-":
            self.cloud.check_zone(project, zone)
            return self.page(kind, of_zone(project, zone), query)
        items = [one for z in sorted(catalogue.zones)
                 if z not in self.cloud.unreachable
                 for one in of_zone(project, z)]
        return self.page(kind, items, query,
                         [f"projects/{project}/locations/{z}"
                          for z in sorted(self.cloud.unreachable)])

    def of_operations(self, method, match, query, _, headers):
        base, project, zone, name, verb = match.groups()
        self.check_caller(headers, project, "tpu.operations." +
                          ("get" if name else "list"), base)
        self.cloud.check_zone(project, zone)
        operations = self.cloud.operations
        if not name:
            return self.page("operations", [
                self.cloud.operation_json(one)
                for one in operations.values()
                if one.name.startswith(base + "/")], query)
        operation = operations.get(f"{base}/{name}")
        if operation is None:
            raise answers.not_found(f"{base}/{name}")
        if verb == "cancel":
            operation.cancelled = True
            return {}
        if method == "DELETE":
            del operations[operation.name]
            return {}
        return self.cloud.operation_json(operation)
