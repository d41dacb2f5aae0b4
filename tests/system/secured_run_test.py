#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`muster run` on two hosts that are network namespaces: the secured channel,
and what is said when one side cannot be trusted."""
import pathlib
import resource
import subprocess
import sys
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "lab")]
# pylint: disable=wrong-import-position
import namespaces  # noqa: E402
from muster_test import (BUILD, MusterTest, Running,  # noqa: E402
                         clean_environment)

# Opens 1,000 connections to the coordinator, half of them with the beginning of
# a handshake, says so, and keeps them until its input ends or the other side.
KNOCK = """
import contextlib, resource, socket, sys
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
held = []
for number in range(1000):
    held.append(socket.create_connection(("10.77.0.1", 7000), 60))
    if number % 2:
        with contextlib.suppress(ConnectionError):
            held[-1].send(bytes.fromhex("160301020001"))
print("knocked", flush=True)
sys.stdin.read()
"""
# What a client without a certificate agrees upon with the coordinator.
GREET = """
import socket, ssl
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
connection = socket.create_connection(("10.77.0.1", 7000), 60)
print(context.wrap_socket(connection).version())
"""

TOKEN = "a secret of thirty-two bytes....\n"
HOSTS = "10.77.0.1:7000,10.77.0.2:7000"


class SecuredRun(MusterTest):
    @classmethod
    def setUpClass(cls):
        if reason := namespaces.why_not():
            raise unittest.SkipTest(reason)
        namespaces.sweep()
        cls.lab = cls.enterClassContext(namespaces.Lab(0, 2))

    def token(self, text=TOKEN, mode=0o600):
        path = self.folder / f"token-{len(list(self.folder.iterdir()))}"
        path.write_text(text)
        path.chmod(mode)
        return str(path)

    def inside(self, host, *words):
        return ("ip", "netns", "exec", self.lab.hosts[host].space, *words)

    def start_on(self, host, *flags, command=("/bin/true",), within=(),
                 **environment):
        """Host 0 or 1, each with a folder of its own."""
        return Running(
            self,
            ["run", "--hosts", HOSTS, *map(str, flags), "--", *command],
            self.folder / f"host{host}", clean_environment(**environment),
            prefix=self.inside(host, *within))

    def both(self, first, second, **kinds):
        running = [self.start_on(0, *first, **kinds),
                   self.start_on(1, *second, **kinds)]
        return [one.wait() for one in running]

    def test_ends_well_with_the_same_token(self):
        token = self.token()
        done = self.both(["--token-file", token], ["--token-file", token],
                         command=("/bin/sh", "-c", "echo rank $RANK"))
        for one in done:
            self.assertEqual(one.code, 0, one.err)
            self.assertIn("running as root", one.err)
        self.assertIn("rank 0", done[0].out)
        self.assertIn("rank 1", done[1].out)
        self.assertEqual(done[0].report["exit"]["code"], 0)

    def test_takes_the_token_file_from_the_environment(self):
        done = self.both([], [], MUSTER_TOKEN_FILE=self.token())
        for one in done:
            self.assertEqual(one.code, 0, one.err)

    def test_writes_the_token_nowhere(self):
        token = self.token()
        flags = ["--token-file", token, "--log-level", "trace"]
        done = self.both(flags, flags)
        files = [path for path in self.folder.rglob("*")
                 if path.is_file() and str(path) != token]
        self.assertGreater(len(files), 4)
        for path in files:
            self.assertNotIn(TOKEN.strip().encode(), path.read_bytes(), path)
        self.assertEqual(done[0].code, 0, done[0].err)

    def test_refuses_other_hosts_without_a_token(self):
        for one in self.both([], []):
            self.assertEqual(one.code, 2, one.err)
            self.assertIn("usage-invalid", one.err)
            self.assertIn("--token-file", one.err)

    def test_names_another_token_on_both_sides(self):
        flags = ["--gather-timeout", "4s", "--token-file"]
        done = self.both([*flags, self.token()],
                         [*flags, self.token("another secret, as long as it")])
        for one in done:
            self.assertEqual(one.code, 125, one.err)
            self.assertIn("error[ver-peer-mismatch]", one.err)
            self.assertIn("does not have this member's token", one.err)
        self.assertEqual(done[0].report["findings"][0]["cause"],
                         "ver-peer-mismatch")

    def skewed(self, seconds):
        flags = ["--gather-timeout", "4s", "--token-file", self.token()]
        other = self.start_on(
            1, *flags, LD_PRELOAD=str(BUILD / "libskewed_clock.so"),
            MUSTER_TEST_SKEW=str(seconds))
        return [self.start_on(0, *flags).wait(), other.wait()]

    def test_names_a_clock_that_is_ahead(self):
        for one in self.skewed(3600):
            self.assertEqual(one.code, 125, one.err)
            self.assertIn("error[clock-skew]", one.err)

    def test_names_a_clock_that_is_behind(self):
        for one in self.skewed(-3600):
            self.assertEqual(one.code, 125, one.err)
            self.assertIn("error[clock-skew]", one.err)

    def test_bears_a_clock_that_is_a_minute_off(self):
        token = self.token()
        other = self.start_on(
            1, "--token-file", token,
            LD_PRELOAD=str(BUILD / "libskewed_clock.so"),
            MUSTER_TEST_SKEW="60")
        done = self.start_on(0, "--token-file", token).wait()
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(other.wait().code, 0)

    def test_lets_a_member_in_among_a_thousand_connections(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if hard < 2048:
            self.skipTest(f"the hard limit of open files is {hard}")
        token = self.token()
        flags = ["--token-file", token, "--gather-timeout", "120s",
                 "--check", "off"]
        # Fewer descriptors than connections, and no more to be had.
        few = ("sh", "-c", 'ulimit -n 256; exec "$@"', "sh")
        first = self.start_on(0, *flags, within=few)
        self.lab.hosts[0].await_listener(7000)
        knocker = subprocess.Popen(
            self.inside(1, sys.executable, "-c", KNOCK), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with knocker:
            self.assertEqual(knocker.stdout.readline(), "knocked\n")
            second = self.start_on(1, *flags)
            self.assertEqual(second.wait().code, 0, second.text())
            self.assertEqual(first.wait().code, 0, first.text())
            knocker.stdin.close()

    def test_an_error_on_another_host_ends_all_before_a_rank_starts(self):
        token = self.token()
        other = self.start_on(1, "--token-file", token, within=(
            "sh", "-c", 'ulimit -n 200; exec "$@"', "sh"))
        done = self.start_on(0, "--token-file", token).wait()
        for one in (done, other.wait()):
            self.assertEqual(one.code, 125, one.err)
        self.assert_finding(done, "os-limit")
        self.assertNotIn("rank.started",
                         [event["name"] for event in done.events])

    def test_agrees_upon_tls_1_3(self):
        self.start_on(0, "--token-file", self.token())
        self.lab.hosts[0].await_listener(7000)
        done = subprocess.run(self.inside(1, sys.executable, "-c", GREET),
                              text=True, capture_output=True)
        self.assertEqual(done.stdout, "TLSv1.3\n", done.stderr)

    def test_refuses_a_token_that_others_can_read(self):
        done = self.start_on(0, "--token-file", self.token(mode=0o644)).wait()
        self.assertNotEqual(done.code, 0)
        self.assertIn("error[file-permission]", done.err)
        self.assertIn("0644", done.err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
