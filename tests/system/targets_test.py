#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""muster check --target against servers of every day: HTTP, TLS, SSH, a packet
filter, and what is kept on one port where another is expected."""
import http.server
import json
import os
import shutil
import ssl
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../support"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../fakes"))
# pylint: disable=wrong-import-position
from http_fakes import certificate  # noqa: E402
from muster_test import (MUSTER, MusterTest, clean_environment,  # noqa: E402
                         free_port, listens, wait_until, why_no_mounts,
                         with_mounts)

SSHD = "/usr/sbin/sshd"
# On loopback of a network namespace of its own every packet to port 8470 is
# dropped.
FILTERED = ("ip link set lo up && nft add table inet t && "
            "nft add chain inet t in '{ type filter hook input priority 0; }' "
            "&& nft add rule inet t in tcp dport 8470 drop && exec \"$@\"")


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def why_no_filter():
    """Why no packet filter can be set up here; "": it can."""
    if not shutil.which("unshare"):
        return "`unshare` is not installed"
    done = subprocess.run(["unshare", "-n", "sh", "-c", FILTERED, "sh", "true"],
                          capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr.strip() or "no reason"


class Targets(MusterTest):
    def ask(self, target, *argv, code=0, prefix=()):
        """What is said of the only target, and of which cause."""
        done = subprocess.run(
            [*prefix, MUSTER, "check", "--output", "json", "--target", target,
             *argv], capture_output=True, text=True, timeout=120,
            cwd=self.folder, env=clean_environment())
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        document = json.loads(done.stdout)
        [check] = document["checks"]
        [said] = check["data"]["targets"]
        return said, check["causes"]

    def serve(self, tls=False):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
        server.handle_error = lambda *_: None  # who asks ends in the middle
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate(self.folder))
            server.socket = context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"127.0.0.1:{server.server_address[1]}"

    def test_an_http_server_is_one(self):
        place = self.serve()
        said, causes = self.ask(f"http://{place}", "--wait", "8s")
        self.assertEqual((said["protocol"], causes), ("http", []))
        self.assertEqual(self.ask(place, "--wait", "8s")[1], [])

    def test_a_tls_server_is_one(self):
        place = self.serve(tls=True)
        said, causes = self.ask(f"https://{place}", "--wait", "8s")
        self.assertEqual((said["protocol"], causes), ("tls", []))

    def test_an_http_server_is_not_what_a_tpu_worker_is(self):
        said, causes = self.ask(f"grpc://{self.serve()}", "--wait", "8s",
                                code=1)
        self.assertEqual(causes, ["net-wrong-endpoint"])
        self.assertIn("an HTTP server (`HTTP/1.0 200 OK`)", said["who"])

    @unittest.skipUnless(os.path.exists(SSHD), f"{SSHD} is not installed")
    def test_an_ssh_server_is_one(self):
        prefix = []
        if os.geteuid() == 0:
            if reason := why_no_mounts():
                self.skipTest(f"sshd of root wants /run/sshd: {reason}")
            prefix = with_mounts("mount -t tmpfs none /run && mkdir /run/sshd")
        key = self.folder / "host_key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
                        key], check=True)
        port = free_port()
        with open(self.folder / "sshd", "w") as log:
            server = subprocess.Popen(
                [*prefix, SSHD, "-D", "-e", "-f", "/dev/null", "-h", key, "-o",
                 f"ListenAddress=127.0.0.1:{port}"], stderr=log)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        place = f"ssh://127.0.0.1:{port}"

        wait_until(lambda: listens(port), 60, "sshd listens")
        said, causes = self.ask(place, "--wait", "8s")
        self.assertEqual((said["protocol"], causes), ("ssh", []))
        self.assertIn("SSH-2.0-", said["who"])

    def test_a_filtered_port_is_not_a_refused_one(self):
        if reason := why_no_filter():
            self.skipTest(f"no packet filter: {reason}")
        inside = ("unshare", "-n", "sh", "-c", FILTERED, "sh")
        said, causes = self.ask("grpc://127.0.0.1", "--wait", "500ms", code=1,
                                prefix=inside)
        self.assertEqual(causes, ["net-timeout-filtered"])
        self.assertIn("did not respond", said["missed"]["message"])
        _, causes = self.ask("grpc://127.0.0.1:8471", "--wait", "500ms",
                             code=1, prefix=inside)
        self.assertEqual(causes, ["net-wrong-endpoint"])

    def test_a_name_that_does_not_resolve_is_its_own_cause(self):
        _, causes = self.ask("grpc://no-such-host.invalid", "--wait", "8s",
                             code=1)
        self.assertEqual(causes, ["net-name-resolution"])


if __name__ == "__main__":
    unittest.main(verbosity=2)  # which says why one is skipped
