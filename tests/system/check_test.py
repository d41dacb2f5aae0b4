#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""muster check on this machine: healthy, and with one fault at a time."""
import json
import os
import pty
import resource
import signal
import socket
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../support"))
from muster_test import (MUSTER, MusterTest, clean_environment,  # noqa: E402
                         free_port, wait_until, why_no_mounts, with_mounts)

NOBODY = 65534


def environment(**changes):
    return clean_environment(NO_GCE_CHECK="true", **changes)


def own_loopback():
    """An address of this machine that no other test has; Linux gives a process
    a number below 2^22."""
    pid = os.getpid()
    return f"127.{64 + (pid >> 16)}.{pid >> 8 & 255}.{pid & 255}"


class Check(MusterTest):
    def run_check(self, *argv, code=0, prefix=(), limit=None, program=MUSTER,
                  another=None, **variables):
        """The document of a check; its exit code is as expected."""
        def set_limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

        done = subprocess.run(
            [*prefix, program, "check", "--output", "json", *map(str, argv)],
            cwd=self.folder, env=environment(**variables), timeout=60,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            preexec_fn=set_limit if limit else None, **(another or {}))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def assert_found(self, document, check, cause, severity="error"):
        """Exactly this check has exactly this finding; the finding."""
        found = [one for one in document["checks"] if one["id"] == check]
        self.assertEqual(found[0]["causes"], [cause], document)
        finding = next(one for one in document["findings"]
                       if one["cause"] == cause)
        self.assertEqual(finding["severity"], severity, finding)
        self.assertEqual(finding["schema"], "muster.finding/1")
        return finding

    def test_finds_no_error_on_a_healthy_host(self):
        document = self.run_check("-n", "1")
        self.assertEqual(document["schema"], "muster.check/1")
        summary = document["summary"]
        self.assertEqual((summary["fail"], summary["broken"]), (0, 0),
                         document)
        self.assertEqual(summary["exit"], 0)
        self.assertEqual(sum(summary[word] for word in
                             ("pass", "warn", "fail", "skip", "broken")),
                         len(document["checks"]))
        self.assertFalse([one for one in document["findings"]
                          if one["severity"] == "error"])

    def listen(self):
        """A listener that never accepts: connected, and silent."""
        listener = socket.socket()
        self.addCleanup(listener.close)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        return listener

    def test_asks_targets_alone_and_names_who_answers_instead(self):
        listener = self.listen()
        place = f"127.0.0.1:{listener.getsockname()[1]}"
        document = self.run_check("--target", f"grpc://{place}",
                                  "--wait", "400ms", code=1)
        self.assertEqual([one["id"] for one in document["checks"]],
                         ["target.answers"])
        finding = self.assert_found(document, "target.answers",
                                    "net-wrong-endpoint")
        self.assertIn("sends nothing, not by a gRPC server", finding["what"])
        document = self.run_check("--target", f"tcp://{place}",
                                  "--wait", "400ms")
        [target] = document["checks"][0]["data"]["targets"]
        self.assertEqual(target["protocol"], "silent")
        self.assertEqual(target["number"], place)

    def test_asks_members_whoever_this_host_is(self):
        listener = self.listen()
        port = listener.getsockname()[1]
        listener.close()
        document = self.run_check(
            "--framework", "tf", "--hosts",
            f"127.0.0.1:{port},127.0.0.2:{port}", code=1)
        finding = self.assert_found(document, "target.answers",
                                    "net-wrong-endpoint")
        self.assertEqual(finding["subjects"],
                         [f"127.0.0.1:{port}", f"127.0.0.2:{port}"])

    def test_cannot_ask_members_of_a_cluster_that_is_described_wrongly(self):
        document = self.run_check("--framework", "tf", code=2,
                                  TF_CONFIG='{"cluster": 3}')
        self.assert_found(document, "target.answers", "cluster-spec-invalid")

    def test_names_who_holds_a_port(self):
        with socket.socket() as holder:
            holder.bind(("127.0.0.1", 0))
            holder.listen()
            port = holder.getsockname()[1]
            document = self.run_check(
                "network.ports", "--hosts", f"127.0.0.1:{port}", "--rank", "0",
                code=1)
        finding = self.assert_found(document, "network.ports",
                                    "net-port-in-use")
        self.assertIn(f"process {os.getpid()} (", finding["what"])

    def test_takes_the_same_port_when_it_is_free(self):
        with socket.socket() as holder:
            holder.bind(("127.0.0.1", 0))
            port = holder.getsockname()[1]
        document = self.run_check("network.ports", "--hosts",
                                  f"127.0.0.1:{port}", "--rank", "0")
        self.assertEqual(document["findings"], [])

    def test_names_a_low_limit_of_open_files(self):
        document = self.run_check("host", code=1, limit=64)
        finding = self.assert_found(document, "host.open-files", "os-limit")
        self.assertIn("can open 64 files", finding["what"])

    def test_names_a_full_shared_memory(self):
        if reason := why_no_mounts():
            self.skipTest(reason)
        small = with_mounts("mount -t tmpfs -o size=1m tmpfs /dev/shm")
        document = self.run_check("host.shared-memory", code=1, prefix=small)
        finding = self.assert_found(document, "host.shared-memory",
                                    "shm-too-small")
        self.assertIn("1.0 MiB of 1.0 MiB", finding["what"])

    def test_names_a_disk_without_inodes(self):
        if reason := why_no_mounts():
            self.skipTest(reason)
        disk = self.folder / "disk"
        disk.mkdir()
        full = with_mounts(
            f"mount -t tmpfs -o size=2g,nr_inodes=2 tmpfs {disk}")
        document = self.run_check("storage.space", "--checkpoints",
                                  disk / "ck", code=1, prefix=full)
        finding = self.assert_found(document, "storage.space", "disk-full")
        self.assertIn("inodes", finding["what"])

    def test_names_a_proxy_without_its_password(self):
        variables = {"http_proxy": "http://me:secret@127.0.0.1:9",
                     "TF_CONFIG": json.dumps({
                         "cluster": {"worker": ["127.0.0.1:2222",
                                                "127.0.0.1:2223"]},
                         "task": {"type": "worker", "index": 0}})}
        document = self.run_check("network.proxy", code=1, **variables)
        finding = self.assert_found(document, "network.proxy", "net-proxy")
        self.assertIn("http_proxy", finding["what"])
        self.assertNotIn("secret", json.dumps(document))
        healed = self.run_check("network.proxy", no_proxy="127.0.0.1",
                                **variables)
        self.assertEqual(healed["findings"], [])

    def test_names_what_does_not_resolve(self):
        document = self.run_check(
            "network.names", "--hosts", "127.0.0.1:1,no-such.invalid:1",
            "--rank", "0", code=1, prefix=self.resolver(own_loopback()))
        self.assert_found(document, "network.names", "net-name-resolution")

    def test_a_bad_description_is_found_and_skips_what_needs_it(self):
        document = self.run_check("network", code=2, RANK="4", WORLD_SIZE="4",
                                  MASTER_ADDR="127.0.0.1", MASTER_PORT="29500")
        self.assert_found(document, "cluster.described", "rank-world-mismatch")
        details = {one["id"]: one["detail"] for one in document["checks"]}
        self.assertEqual(details["network.ports"],
                         "needs `cluster.described`: fail")

    def test_a_bad_description_is_no_matter_of_the_memory(self):
        document = self.run_check("host.memory", RANK="4", WORLD_SIZE="4",
                                  MASTER_ADDR="127.0.0.1", MASTER_PORT="29500")
        self.assertEqual(len(document["checks"]), 1)

    def test_data_that_is_not_there(self):
        document = self.run_check("storage", "--data", self.folder / "none",
                                  code=1)
        self.assert_found(document, "storage.data", "data-path-unreachable")

    def test_data_of_another_user(self):
        if os.geteuid() != 0:
            self.skipTest("another user needs root")
        program = self.program_of_all()
        data = self.folder / "data"
        data.mkdir()
        part = data / "part-0"
        part.write_text("1")
        part.chmod(0o600)
        another = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        try:
            subprocess.run([program, "--version"], check=True,
                           capture_output=True, **another)
        except (OSError, subprocess.CalledProcessError) as error:
            self.skipTest(f"another user may not run muster: {error}")
        document = self.run_check("storage.data", "--data", data, code=1,
                                  program=program, another=another)
        finding = self.assert_found(document, "storage.data",
                                    "file-permission")
        self.assertIn(str(part), finding["what"])
        part.chmod(0o644)
        self.run_check("storage.data", "--data", data, program=program,
                       another=another)

    def test_leaves_no_file_behind_when_it_is_interrupted(self):
        folder = self.folder / "ck"
        folder.mkdir()
        port = free_port()
        # The second member never comes.
        process = subprocess.Popen(
            [MUSTER, "check", "network.reach", "--hosts",
             f"127.0.7.1:{port},127.0.7.2:{port}", "--rank", "0", "--wait", "60s",
             "--checkpoints", folder], cwd=self.folder, env=environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        wait_until(lambda: list(folder.glob(".muster-seen-*")), 60,
                   "the file is written")
        os.killpg(process.pid, signal.SIGINT)
        self.assertEqual(process.wait(60), -signal.SIGINT)
        wait_until(lambda: not list(folder.iterdir()), 60, "the file is gone")

    def test_names_a_program_that_is_not_there(self):
        document = self.run_check("cluster.program", "--", "no-such-program",
                                  "x", code=1)
        finding = self.assert_found(document, "cluster.program",
                                    "program-not-found")
        self.assertIn("`no-such-program`", finding["what"])
        script = self.folder / "train.py"
        script.write_text("pass")
        document = self.run_check("cluster.program", "--", sys.executable,
                                  script)
        self.assertIn("train.py 4 B", document["checks"][-1]["detail"])

    def test_fails_on_what_it_is_told_to(self):
        threads = {"OMP_NUM_THREADS": "100000"}
        document = self.run_check("cluster.threads", **threads)
        self.assert_found(document, "cluster.threads", "host-overloaded",
                          "warning")
        self.run_check("cluster.threads", "--fail-on", "warning", code=1,
                       **threads)
        self.run_check("host", "--fail-on", "never", limit=64)

    def test_jsonl_has_one_record_a_line(self):
        done = subprocess.run(
            [MUSTER, "check", "-n", "1", "--output", "jsonl"],
            cwd=self.folder, env=environment(), timeout=60,
            capture_output=True, text=True)
        records = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(records[0]["type"], "version")
        self.assertEqual(records[0]["schema"], "muster.check/1")
        self.assertEqual(records[-1]["type"], "summary")
        checks = [one for one in records if one["type"] == "check"]
        self.assertGreater(len(checks), 15)

    def test_tells_what_it_knows_while_a_check_still_waits(self):
        deaf = self.deaf_resolver()
        with subprocess.Popen(
                [*deaf, MUSTER, "check", "host", "network.names", "--hosts",
                 "127.0.0.1:1,a.example:1", "--rank", "0"],
                cwd=self.folder, env=environment(), stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL) as process:
            first = process.stdout.readline()
            self.assertIsNone(process.poll())
            rest = process.stdout.read()
        self.assertNotIn(b"network.names", first)
        self.assertIn(b"network.names", rest)

    def test_rewrites_no_line_where_there_is_no_terminal(self):
        done = self.muster("check", "-n", "1", NO_GCE_CHECK="true")
        self.assertNotIn("\r", done.out + done.err)
        self.assertNotIn("\033", done.out + done.err)

    def resolver(self, server):
        """A prefix under which names are asked of this address alone."""
        if reason := why_no_mounts():
            self.skipTest(reason)
        resolver = self.folder / "resolv.conf"
        resolver.write_text(f"nameserver {server}\n")
        return with_mounts(f"mount --bind {resolver} /etc/resolv.conf")

    def deaf_resolver(self):
        """A prefix under which a name server is asked that never answers."""
        silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(silent.close)
        server = own_loopback()
        try:
            silent.bind((server, 53))
        except OSError as error:
            self.skipTest(f"port 53 of {server}: {error}")
        return self.resolver(server)

    def test_a_name_server_that_is_silent_does_not_hold_it_up(self):
        deaf = self.deaf_resolver()
        document = self.run_check(
            "network.names", "--hosts", "127.0.0.1:1,a.example:1",
            "--rank", "0", prefix=deaf)
        # An answer of its own, not the deadline that ends a check ("broken");
        # a slow server may still answer the program.
        self.assert_found(document, "network.names", "net-name-resolution",
                          severity="warning")

    def test_shows_on_a_terminal_what_it_waits_for(self):
        deaf = self.deaf_resolver()
        terminal, end = pty.openpty()
        self.addCleanup(os.close, terminal)
        with subprocess.Popen(
                [*deaf, MUSTER, "check", "network.names", "--hosts",
                 "127.0.0.1:1,a.example:1", "--rank", "0"],
                cwd=self.folder, env=environment(TERM="xterm"),
                stdin=subprocess.DEVNULL, stdout=end, stderr=end) as process:
            os.close(end)
            text = b""
            try:
                while chunk := os.read(terminal, 65536):
                    text += chunk
            except OSError:  # EIO: the other end is closed
                pass
            self.assertEqual(process.wait(20), 0)
        self.assertRegex(text, rb"\r\x1b\[K\.\.\.\s+network\.names\s+[1-9]")
        self.assertIn(b"net-name-resolution", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)  # says why a test is skipped
