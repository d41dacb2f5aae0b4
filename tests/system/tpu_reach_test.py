#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`muster tpu ssh`, `check --tpu`, `run --tpu` and `tpu notebook` with real
sshd on hosts that are network namespaces and stand for the workers of a TPU VM,
whose addresses the fake of the API tells."""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import unittest
import urllib.error
import urllib.request

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "support"))
# pylint: disable=wrong-import-position
from tpu_vm_case import SLEEPS, Tpu, namespaces  # noqa: E402
from muster_test import wait_until  # noqa: E402


# Stands for Jupyter: answers whoever shows its token, and has a kernel in a
# session of its own, which outlives it.
JUPYTER = """
import http.server
import os
import subprocess
import sys

if "--version" in sys.argv:
    sys.exit(0)
flags = dict(word.split("=", 1) for word in sys.argv if "=" in word)
subprocess.Popen(["sleep", "600"], start_new_session=True)
print("the token is", os.environ["JUPYTER_TOKEN"], flush=True)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        good = f"token {os.environ['JUPYTER_TOKEN']}"
        known = self.headers.get("Authorization") == good
        body = (" ".join(sys.argv[1:])).encode()
        self.send_response(200 if known else 403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


http.server.HTTPServer((flags["--ip"], int(flags["--port"])),
                       Handler).serve_forever()
"""


class Ssh(Tpu):
    def test_runs_a_command_on_each_worker(self):
        self.serve()
        done = self.play("tpu", "ssh", "t", "--worker", "all", "--", "sh",
                         "-c", 'echo "$1 on $(hostname)"; echo oh >&2', "sh",
                         "a'b  $c")
        self.assertEqual(done.code, 0, done.err)
        for worker in range(self.size):
            self.assertIn(f"[worker {worker}] a'b  $c on w-{worker}\n",
                          done.out)
            self.assertIn(f"[worker {worker}] oh\n", done.err)
        self.assertIn("internal: it has no external addresses", done.err)
        self.assert_nothing_is_left()

    def test_ends_with_the_largest_code(self):
        self.serve()
        done = self.play("tpu", "ssh", "t", "--worker", "all", "--command",
                         'exit $(hostname | tr -d w-)')
        self.assertEqual(done.code, 3, done.err)
        self.assertIn("worker 1 ended with 1, worker 2 ended with 2, worker 3 "
                      "ended with 3, 1 other worker with 0; exit code 3",
                      done.err)

    def test_names_each_worker_that_cannot_be_asked(self):
        """One refuses, one hangs after the banner, one has another key."""
        self.serve(self.workers[0])
        self.serve(self.workers[1], authorized=False)
        self.ssh.be_silent(self.workers[2])
        self.servers |= {one.pid for one in self.workers[2].processes}
        self.serve(self.workers[3])
        before = self.tpu.known_hosts.read_text()
        self.tpu.known_hosts.write_text("".join(
            line.replace(self.ssh.keys["w-3"][1], self.ssh.keys["w-0"][1])
            for line in before.splitlines(True)))
        wrong = self.tpu.known_hosts.read_text()
        done = self.play("tpu", "ssh", "t", "--worker", "all", "--timeout",
                         "12s", "--", "hostname")
        self.assertEqual(self.labels(done), {
            1: "ssh-auth-refused", 2: "deadline-exceeded",
            3: "net-wrong-endpoint"}, done.err)
        self.assertEqual(done.out, "[worker 0] w-0\n")
        self.assertEqual(done.code, 255)
        self.assertIn("it accepts none of the keys", done.err)
        self.assertIn("did not complete the login within 12.0 s", done.err)
        self.assertIn(f"-R {self.tpu.key_name(3)} asks", self.said(done))
        # The changed key was neither used nor forgotten.
        self.assertEqual(self.tpu.known_hosts.read_text(), wrong)
        self.assert_nothing_is_left()

    def test_tells_the_same_as_a_document(self):
        self.serve(self.workers[0], self.workers[1], self.workers[2])
        done = self.play("tpu", "ssh", "t", "--worker", "all", "--output",
                         "json", "--", "sh", "-c", "echo hi; exit 4")
        told = json.loads(done.out)
        self.assertEqual([one["code"] for one in told["workers"]],
                         [4, 4, 4, 255])
        self.assertEqual(told["workers"][1]["out"], "hi\n")
        self.assertEqual(told["workers"][3]["finding"]["cause"],
                         "net-wrong-endpoint")

    def test_keeps_the_key_of_a_worker_that_nobody_has_seen(self):
        self.serve(self.workers[1])
        self.tpu.known_hosts.unlink()
        done = self.play("tpu", "ssh", "t", "--worker", "1", "--", "hostname")
        self.assertEqual((done.code, done.out), (0, "w-1\n"), done.err)
        self.assertIn(f"Permanently added '{self.tpu.key_name(1)}'", done.err)
        self.assertEqual(self.tpu.known_hosts.read_text().split()[:3], [
            self.tpu.key_name(1), *self.ssh.keys["w-1"]])

    def test_leaves_nothing_when_it_is_stopped_or_killed(self):
        for number in (signal.SIGINT, signal.SIGKILL):
            with self.subTest(number):
                if not self.servers:
                    self.serve()
                running = self.begin("tpu", "ssh", "t", "--worker", "all",
                                     "--", *SLEEPS)
                self.await_sleepers(range(self.size))
                running.process.send_signal(number)
                running.process.wait(120)
                self.assert_nothing_is_left()
                for worker in range(self.size):
                    (self.home(worker) / "pid").unlink()

    def test_asks_why_workers_vanish(self):
        self.serve()
        running = self.begin("tpu", "ssh", "t", "--worker", "all", "--",
                             *SLEEPS)
        self.await_sleepers(range(self.size))
        self.tpu.preempt()
        done = running.wait()
        self.assertEqual(done.code, 255, done.err)
        self.assertIn("error[preempted] the TPU `t` was preempted", done.err)
        self.assertIn("muster tpu create t --zone us-central2-b --type v4-32",
                      self.said(done))

    def test_refuses_a_tpu_that_is_not_ready(self):
        self.tpu.node.timeline.set(0, (0, "PREEMPTED"))
        done = self.play("tpu", "ssh", "t", "--", "true")
        self.assertEqual(done.code, 1, done.err)
        self.assertIn("error[preempted]", done.err)

    def test_opens_a_shell_on_one_worker(self):
        self.serve(self.workers[0])
        *prefix, script = self.user.command(["env"])
        shell = subprocess.run(
            [*prefix, script + ' "$@"', "sh", os.environ["MUSTER_BINARY"],
             "tpu", "ssh", "t"], input="hostname; exit 5\n",
            capture_output=True, text=True, timeout=120, check=False,
            env=self.tpu.environment())
        self.assertEqual(shell.returncode, 5, shell.stderr)
        self.assertIn("w-0\n", shell.stdout)


class Runs(Tpu):
    accelerator, size = "v4-16", 2

    def test_copies_the_program_and_ends_as_any_run(self):
        self.serve()
        program = self.folder / "train"
        program.mkdir()
        (program / "train.sh").write_text('echo "rank $RANK of $WORLD_SIZE on '
                                          '$(hostname)"\n')
        done = self.play("run", "--tpu", "t", "--project", "p", "--zone",
                         "us-central2-b", "--copy", "train", "--", "sh",
                         "train.sh")
        self.assertEqual(done.code, 0, done.err)
        for rank in range(2):
            self.assertIn(f"[rank {rank}] rank {rank} of 2 on w-{rank}",
                          done.out)
        self.assertRegex(done.err, r"copies `train` \(1 file, \d+ B, packed "
                         r"\d+ B\) to 2 workers, to ~/\.muster/copies/\S+, "
                         "and removes it at the end")
        self.assert_nothing_is_left()
        reports = list(self.home(0).glob("runs/*/report.json"))
        self.assertEqual(json.loads(reports[0].read_text())["exit"]["code"], 0)
        for worker in range(2):
            self.assertEqual(
                list((self.home(worker) / ".muster/copies").iterdir()), [])

    def test_keeps_the_copy_on_request_and_names_the_failure(self):
        self.serve()
        program = self.folder / "train"
        program.mkdir()
        (program / "train.sh").write_text("exit $((7 * RANK))\n")
        done = self.play("run", "--tpu", "t", "--copy", "train", "--keep-copy",
                         "--max-restarts", "0", "--", "sh", "train.sh")
        self.assertEqual(done.code, 7, done.err)
        self.assertIn("error[app-exception] rank 1", done.err)
        kept = list(self.home(1).glob(".muster/copies/*/train.sh"))
        self.assertEqual(len(kept), 1)

    def test_one_worker_of_two_is_said_to_be_a_part(self):
        self.serve(self.workers[1])
        done = self.play("run", "--tpu", "t", "--worker", "1", "--", "hostname")
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(done.out, "w-1\n")
        self.assertIn("warning[partial-slice-launch] only worker 1", done.err)

    def begin_sleeping(self):
        running = self.begin("run", "--tpu", "t", "--", *SLEEPS)
        self.await_sleepers(range(2))
        return running

    def test_preempted_in_the_middle(self):
        self.serve()
        running = self.begin_sleeping()
        self.tpu.preempt()
        done = running.wait()
        self.assertEqual(done.code, 75, done.err)
        self.assertIn("error[preempted] the TPU `t` was preempted", done.err)

    def test_unhealthy_in_the_middle(self):
        self.serve()
        running = self.begin_sleeping()
        self.api.cloud.sick["t"] = "UNHEALTHY_MAINTENANCE"
        for host in self.workers:
            self.ssh.stop(host)
        done = running.wait()
        self.assertEqual(done.code, 75, done.err)
        self.assertIn("error[tpu-unhealthy] the TPU `t` is READY but not "
                      "HEALTHY: UNHEALTHY_MAINTENANCE", done.err)

    def test_a_token_stands_in_no_command_line(self):
        self.serve()
        running = self.begin_sleeping()
        shown = b""
        for pid in namespaces.pids_in(self.lab.hosts):
            path = pathlib.Path(f"/proc/{pid}/cmdline")
            shown += path.read_bytes() if path.exists() else b""
        self.assertIn(b"muster", shown)
        self.assertNotIn(b"canary", shown)
        running.process.send_signal(signal.SIGINT)
        self.assertEqual(running.wait().code, 130)
        self.assert_nothing_is_left()


class Checks(Tpu):
    accelerator, size = "v4-16", 2

    def test_are_made_on_each_worker(self):
        self.serve()
        done = self.play("check", "network.reach", "--tpu", "t", "--output",
                         "json")
        told = json.loads(done.out)
        self.assertEqual(done.code, told["exit"])
        for worker, one in enumerate(told["workers"]):
            self.assertEqual(one["check"]["host"], f"w-{worker}", done.err)
            outcome = {check["id"]: check["outcome"]
                       for check in one["check"]["checks"]}
            self.assertEqual(outcome["network.reach"], "pass", done.out)

    def test_say_which_worker_is_away(self):
        self.serve(self.workers[0])
        done = self.play("check", "network.reach", "--tpu", "t")
        self.assertEqual(self.labels(done), {1: "net-wrong-endpoint"})
        self.assertRegex(done.out, "\[worker 0\] .*network.reach .* 1 host "
                                   "responds, but muster is not running there")
        self.assertEqual(done.code, 3, done.err)


class Notebook(Tpu):
    accelerator, size = "v4-8", 1

    def setUp(self):
        super().setUp()
        programs = self.folder / "programs"
        programs.mkdir()
        jupyter = programs / "jupyter"
        jupyter.write_text(f"#!{sys.executable}\n{JUPYTER}")
        jupyter.chmod(0o755)
        self.serve(programs=programs)

    def begin_notebook(self):
        """It, and the link for a browser."""
        running = self.begin("tpu", "notebook", "t")
        told = wait_until(lambda: re.search(
            r"browser  (http://127\.0\.0\.1:8888)/lab\?token=(\w+)\nColab    "
            r"http://localhost:8888/\?token=\2\n",
            (self.folder / "stdout").read_text()), 120, "the link")
        return running, told[1], told[2]

    def ask(self, link, token):
        request = urllib.request.Request(
            link + "/api/status", headers={"Authorization": f"token {token}"})

        def get():
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return answer.status, answer.read().decode()
            except urllib.error.HTTPError as error:
                return error.code, ""
        return namespaces.inside(self.user.space, get)

    def test_answers_here_and_ends_with_ctrl_c(self):
        running, link, token = self.begin_notebook()
        status, words = self.ask(link, token)
        self.assertEqual(status, 200)
        for word in ("--no-browser", "--ip=127.0.0.1",
                     "--ServerApp.allow_origin=https://colab.research.google"
                     ".com"):
            self.assertIn(word, words)
        self.assertEqual(self.ask(link, "guessed")[0], 403)
        for pid in filter(str.isdigit, os.listdir("/proc")):
            path = pathlib.Path("/proc", pid, "cmdline")
            try:
                self.assertNotIn(token.encode(), path.read_bytes())
            except OSError:
                continue
        running.process.send_signal(signal.SIGINT)
        done = running.wait()
        self.assertEqual(done.code, 0, done.err)
        self.assertIn("the token is TOKEN", done.err)
        self.assertNotIn(token, done.err)
        self.assert_nothing_is_left()

    def test_leaves_nothing_when_it_is_killed(self):
        running, _, _ = self.begin_notebook()
        running.process.kill()
        running.process.wait()
        self.assert_nothing_is_left()

    def test_leaves_nothing_when_the_connection_is_lost(self):
        running, _, _ = self.begin_notebook()
        clients = [pid for pid in namespaces.pids_in([self.user])
                   if pathlib.Path(f"/proc/{pid}/comm").read_text() == "ssh\n"]
        self.assertEqual(len(clients), 1)
        os.kill(clients[0], signal.SIGKILL)
        done = running.wait()
        self.assertEqual(done.code, 1, done.err)
        self.assertIn("error[peer-died] the connection to worker 0", done.err)
        self.assert_nothing_is_left()

    def test_says_that_the_tpu_was_preempted(self):
        running, _, _ = self.begin_notebook()
        self.tpu.preempt()
        done = running.wait()
        self.assertEqual(done.code, 1, done.err)
        self.assertIn("error[preempted] the TPU `t` was preempted", done.err)

    def test_names_what_is_in_the_way(self):
        (self.folder / "programs" / "jupyter").unlink()
        done = self.play("tpu", "notebook", "t")
        self.assertIn("error[program-not-found] ssh to worker 0", done.err)
        self.assertIn("pip install jupyterlab", self.said(done))
        with namespaces.inside(self.user.space, lambda: socket.create_server(
                ("127.0.0.1", 8888))):
            done = self.play("tpu", "notebook", "t")
        self.assertIn("error[net-port-in-use]", done.err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
