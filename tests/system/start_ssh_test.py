#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`muster run --start ssh` with real sshd on hosts that are network namespaces:
agents get there, what keeps them away is named, and nothing is left."""
import contextlib
import hashlib
import json
import os
import pathlib
import re
import signal
import sys
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "lab")]
import namespaces  # noqa: E402
import ssh  # noqa: E402
from left import LeavesNothing  # noqa: E402
from muster_test import (MUSTER, Running, clean_environment,  # noqa: E402
                         wait_until)

if reason := namespaces.why_not() or ssh.why_not():
    print(f"skipped: {reason}")
    sys.exit(77)

DIGEST = hashlib.sha256(pathlib.Path(MUSTER).read_bytes()).hexdigest()
# A rank that says who it is, and waits for whatever ends it.
SLEEPS = ("sh", "-c", 'echo $$ >"pid-$RANK.new"; '
          'mv "pid-$RANK.new" "pid-$RANK"; sleep 600 & wait')


class StartSsh(LeavesNothing):
    size = 2

    def setUp(self):
        super().setUp()
        namespaces.sweep()
        self.lab = self.enterContext(namespaces.Lab(2, self.size))
        self.members = self.lab.hosts
        self.ssh = ssh.Ssh(self.lab)
        self.servers = set()

    def serve(self, *hosts, **options):
        for host in hosts or self.members:
            self.servers.add(self.ssh.serve(host, **options).pid)

    def begin(self, *flags, names=None, command=("/bin/true",), limit="60s",
              folder="."):
        """Typed on the first host, which is one of the members."""
        names = names or [host.name for host in self.members]
        argv = ["run", "--start", "ssh", "--hosts",
                ",".join(f"{name}:7000" for name in names),
                "--gather-timeout", limit, *flags, "--", *command]
        environment = clean_environment()
        environment["PATH"] = f"{self.ssh.path}:{environment['PATH']}"
        *prefix, script = self.members[0].command(["env"])
        return Running(self, argv, self.folder / folder, environment,
                       prefix=[*prefix, script + ' "$@"', "sh"])

    def play(self, *flags, **options):
        return self.begin(*flags, **options).wait()

    def begin_sleeping(self, *flags, **options):
        running = self.begin(*flags, command=SLEEPS, **options)
        files = [self.folder / f"pid-{host.rank}" for host in self.members]
        wait_until(lambda: all(one.exists() for one in files), 120,
                   "the ranks start")
        return running

    def cached(self, host):
        return self.ssh.cache(host) / "muster" / DIGEST / "muster"


class Agents(StartSsh):
    def test_get_onto_hosts_that_have_no_muster(self):
        self.serve()
        done = self.play(command=("sh", "-c", "echo rank $RANK on $(hostname)"))
        self.assertEqual(done.code, 0, done.err)
        for rank in range(2):
            self.assertIn(f"[rank {rank}] rank {rank} on w-{rank}", done.out)
        self.assertEqual(done.report["exit"]["code"], 0)
        for host in self.members:
            copy = self.cached(host)
            self.assertEqual(copy.read_bytes(),
                             pathlib.Path(MUSTER).read_bytes())
            for path in (copy, copy.parent):
                self.assertEqual(path.stat().st_mode & 0o777, 0o700, path)
        self.assert_nothing_is_left()

    def test_are_copied_once(self):
        self.serve()
        self.assertEqual(self.play().code, 0)
        before = [self.cached(host).stat() for host in self.members]
        done = self.play()
        self.assertEqual(done.code, 0, done.err)
        after = [self.cached(host).stat() for host in self.members]
        self.assertEqual([(one.st_ino, one.st_mtime_ns) for one in before],
                         [(one.st_ino, one.st_mtime_ns) for one in after])

    def test_are_those_that_are_installed_where_they_are_the_same(self):
        same, other = self.folder / "same", self.folder / "other"
        for folder in (same, other):
            folder.mkdir()
        (same / "muster").symlink_to(MUSTER)
        (other / "muster").write_text("#!/bin/sh\necho muster 0.0.9\n")
        (other / "muster").chmod(0o755)
        self.serve(self.members[0], programs=same)
        self.serve(self.members[1], programs=other)
        done = self.play()
        self.assertEqual(done.code, 0, done.err)
        self.assertFalse(self.ssh.cache(self.members[0]).exists())
        self.assertTrue(self.cached(self.members[1]).exists())

    def test_are_told_settings_variables_and_words_as_they_are(self):
        self.serve()
        words = "a'b \"c\" $d \\e ü !f"
        done = self.play("--env", f"WORDS={words}", "--max-restarts", "0",
                         command=("sh", "-c", 'printf "%s|%s\\n" "$WORDS" "$1"',
                                  "sh", words))
        self.assertIn(f"[rank 0] {words}|{words}", done.out)
        self.assertEqual(done.code, 0, done.err)

    def test_end_with_the_code_and_the_cause_of_the_rank_that_failed(self):
        self.serve()
        done = self.play(command=("sh", "-c", "exit $((7 * RANK))"))
        self.assertEqual(done.code, 7, done.err)
        self.assertIn("error[app-exception] rank 1 (w-1:7000) exited with "
                      "status 7",
                      done.err)
        self.assert_nothing_is_left()

    def test_end_with_the_code_that_ssh_has_for_itself(self):
        self.serve()
        done = self.play("--max-restarts", "0", command=("sh", "-c", "exit 255"))
        self.assertEqual(done.code, 255, done.err)
        self.assertIn("error[app-exception]", done.err)
        self.assertNotIn("which runs the coordinator", done.err)

    def test_print_one_document(self):
        self.serve()
        done = self.play("--output", "json")
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(json.loads(done.out)["exit"]["code"], 0)

    def test_give_their_report_to_a_starter_on_another_disk(self):
        """That has the folder's name in common with them, and nothing in it."""
        inner = self.folder / "inner"
        inner.mkdir()
        for host in self.members:
            self.serve(host, prepare=[f"mount -t tmpfs none {inner}"])
        for flags in ((), ("--output", "json")):
            done = self.play(*flags, folder="inner", command=(
                "sh", "-c", "echo seen by $RANK; exit $((7 * RANK))"))
            self.assertEqual(done.code, 7, done.err)
            self.assertEqual(done.report["exit"]["code"], 7)
            run = done.report["run"]
            self.assertEqual(os.readlink(inner / "runs/latest"), run)
            self.assertIn(run, (inner / f"runs/{run}/report.md").read_text())
            self.assertNotIn("muster-report", done.out + done.err)
            if flags:
                self.assertEqual(json.loads(done.out), done.report)
            else:
                self.assertIn("[rank 1] seen by 1", done.out)
                self.assertIn(f"report: runs/{run}/report.md", done.err)
        self.assert_nothing_is_left()

    def test_show_their_token_to_no_other_process(self):
        self.serve()
        running = self.begin_sleeping()
        shown = set()
        for pid in self.left() | {running.process.pid}:
            for name in ("cmdline", "environ"):
                # One that ends meanwhile, a copy over ssh, shows nothing more.
                with contextlib.suppress(FileNotFoundError,
                                         ProcessLookupError):
                    shown |= set(re.findall(
                        rb"[0-9a-f]{64}",
                        pathlib.Path(f"/proc/{pid}/{name}").read_bytes()))
        self.assertEqual(shown, {DIGEST.encode()})
        running.process.send_signal(signal.SIGINT)
        running.wait()


class Lost(StartSsh):
    """A host that is lost while the run goes on."""

    def channel_to(self, host):
        """The process of ssh that leads there."""
        for pid in self.left():
            try:
                line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has ended
            words = line.split(b"\0")
            if words[0].endswith(b"/ssh") and host.name.encode() in words:
                return pid
        return None

    def lose(self, host):
        """Ends the channel; returns when the rank there has another pid."""
        file = self.folder / f"pid-{host.rank}"
        before = file.read_text()
        os.kill(wait_until(lambda: self.channel_to(host), 60,
                           f"ssh leads to {host.name}"), signal.SIGKILL)
        wait_until(lambda: file.read_text() != before, 240,
                   f"the rank of {host.name} starts again")

    def test_is_started_again_as_often_as_the_run_restarts(self):
        self.serve()
        running = self.begin_sleeping()
        for _ in range(2):
            self.lose(self.members[1])
        running.process.send_signal(signal.SIGINT)
        done = running.wait()
        self.assertEqual(done.code, 130, done.err)
        self.assertIn("the agent of w-1 exited, restarting it", done.err)
        failures = [one["failure"]["cause"]
                    for one in done.report["attempts"][:-1]]
        self.assertEqual(failures, ["peer-died"] * 2)
        self.assertIn("w-1", json.dumps(done.report["findings"]))
        self.assert_nothing_is_left()

    def test_ends_the_run_where_none_may_restart(self):
        self.serve()
        running = self.begin_sleeping("--max-restarts", "0")
        os.kill(self.channel_to(self.members[1]), signal.SIGKILL)
        done = running.wait()
        self.assertEqual(done.code, 75, done.err)
        self.assert_nothing_is_left()

    def test_is_said_why_it_does_not_come_back(self):
        self.serve(self.members[0])
        server = self.ssh.serve(self.members[1])
        running = self.begin_sleeping("--max-restarts", "1", limit="20s")
        server.kill()
        server.wait()
        os.kill(self.channel_to(self.members[1]), signal.SIGKILL)
        done = running.wait()
        self.assertEqual(done.code, 75, done.err)
        self.assertEqual(done.err.count(
            "ssh to w-1: the host is up but runs no SSH server"), 1, done.err)
        self.assert_nothing_is_left()


class Ends(StartSsh):
    def test_after_one_ctrl_c_in_order(self):
        self.serve()
        running = self.begin_sleeping()
        running.process.send_signal(signal.SIGINT)
        done = running.wait()
        self.assertEqual(done.code, 130, done.err)
        self.assertEqual(done.report["findings"][0]["cause"], "cancelled")
        self.assert_nothing_is_left()

    def test_when_the_starter_is_killed(self):
        self.serve()
        running = self.begin_sleeping()
        running.process.kill()
        running.process.wait()
        self.assert_nothing_is_left()

    def test_when_the_starter_is_stopped_while_it_starts(self):
        self.serve(self.members[0])
        self.ssh.be_silent(self.members[1])
        self.servers |= {one.pid for one in self.members[1].processes}
        running = self.begin()
        wait_until(lambda: self.cached(self.members[0]).exists(), 60,
                   "the first host has its agent")
        running.process.send_signal(signal.SIGTERM)
        self.assertEqual(running.wait().code, 130)
        self.assert_nothing_is_left()


class Hosts(StartSsh):
    """What keeps an agent away."""

    size = 4

    def findings(self, done):
        """host -> label, as they are printed."""
        return {host: label for label, host in re.findall(
            r"error\[([a-z-]+)\] ssh to (\S+): the host", done.err)}

    def assert_named(self, done, expected):
        self.assertEqual(self.findings(done), expected, done.err)
        self.assertEqual(done.code, 125, done.err)
        self.assertIn(f"no agent on {len(expected)} of", done.err)
        self.assertEqual(list(self.folder.glob("**/runs")), [])
        self.assert_nothing_is_left()

    def test_that_refuse_the_user_hang_or_have_another_key(self):
        self.serve(self.members[0], self.members[3])
        self.serve(self.members[1], authorized=False)
        self.ssh.be_silent(self.members[2])
        self.servers |= {one.pid for one in self.members[2].processes}
        known = dict(self.ssh.keys)
        known["w-3"] = known["w-0"]
        self.ssh.know(known)
        done = self.play(limit="12s")
        self.assert_named(done, {"w-1": "ssh-auth-refused",
                                 "w-2": "deadline-exceeded",
                                 "w-3": "net-wrong-endpoint"})
        self.assertIn("did not complete the login within 12.0 s", done.err)
        self.assertIn("presents a host key that differs", done.err)
        self.assertIn("it accepts none of the keys", done.err)

    def test_that_nobody_knows_that_are_away_or_have_no_server(self):
        self.serve(self.members[0], self.members[1])
        known = dict(self.ssh.keys)
        del known["w-1"]
        self.ssh.know(known)
        for host in self.members:
            host.known["w-away"] = "10.77.0.99"
        done = self.play(limit="30s", names=["w-0", "w-1", "w-2", "w-away"])
        self.assert_named(done, {"w-1": "ssh-host-key-unknown",
                                 "w-2": "net-wrong-endpoint",
                                 "w-away": "net-timeout-filtered"})
        self.assertIn("not in any known_hosts file", done.err)
        # The user's list of keys is the user's.
        self.assertNotIn("w-1", (self.ssh.folder / "known_hosts").read_text())

    def test_whose_ssh_leaves_a_program_that_holds_its_streams(self):
        self.serve(self.members[0])
        client = self.ssh.path / "ssh"
        real = client.read_text().removeprefix("#!/bin/sh\n")
        # As the program of a ProxyCommand may, or of `Match exec`.
        client.write_text(
            '#!/bin/sh\ncase "$*" in *w-1*)\n'
            "  echo 'w-1: Permission denied (publickey).' >&2\n"
            "  sleep 600 &\n  exit 255;;\nesac\n" + real)
        done = self.begin(limit="60s", names=["w-0", "w-1"]).wait(30)
        self.assert_named(done, {"w-1": "ssh-auth-refused"})

    def test_that_have_no_room_no_right_or_another_processor(self):
        self.serve(self.members[0])
        for host, options in ((self.members[1], "size=1m"),
                              (self.members[2], "noexec")):
            cache = self.ssh.cache(host)
            cache.mkdir()
            self.serve(host, prepare=[
                f"mount -t tmpfs -o {options} none {cache}"])
        programs = self.folder / "programs"
        programs.mkdir()
        (programs / "uname").write_text("#!/bin/sh\necho Linux aarch64\n")
        (programs / "uname").chmod(0o755)
        self.serve(self.members[3], programs=programs)
        done = self.play()
        self.assert_named(done, {"w-1": "disk-full",
                                 "w-2": "program-not-found",
                                 "w-3": "ver-abi"})
        self.assertIn("Linux aarch64", done.err)

    def test_that_have_not_the_folder_of_the_run(self):
        self.serve(*self.members[:3])
        self.serve(self.members[3],
                   prepare=[f"mount -t tmpfs none {self.folder}"])
        done = self.play(folder="inner")
        self.assert_named(done, {"w-3": "file-missing"})
        self.assertIn(f"has no folder {self.folder}/inner", done.err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
