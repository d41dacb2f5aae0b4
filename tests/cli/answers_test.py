#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What every sub-command does with its streams, its inputs and its exit code."""
import fcntl
import json
import os
import pathlib
import pty
import re
import socket
import struct
import subprocess
import sys
import termios
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support")]
from muster_test import MUSTER, MusterTest, clean_environment  # noqa: E402

LOG = "RuntimeError: CUDA out of memory.\n"
NOBODY = 65534


class Answers(MusterTest):
    def ask(self, *words, shell="exec \"$@\"", user=None, program=MUSTER,
            **variables):
        """muster with these words; `shell` redirects what it has open."""
        environment = clean_environment(
            NO_GCE_CHECK="true", HOME=str(self.folder), **variables)
        return subprocess.run(
            ["sh", "-c", shell, "sh", program, *words], cwd=self.folder,
            env=environment, text=True, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=60, user=user)

    def write(self, name, text=LOG):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def test_a_result_that_cannot_be_written_is_an_error(self):
        self.write("a.log")
        for code, words in ((1, ["--help"]), (1, ["resolve"]),
                            (1, ["resolve", "--export", "torch"]),
                            (3, ["check", "host.cpu"]),
                            (3, ["explain", "a.log", "--output", "json"]),
                            (3, ["explain", "--list"]),
                            (125, ["run", "--dry-run", "--", "true"])):
            done = self.ask(*words, shell="exec \"$@\" >/dev/full")
            self.assertEqual(done.returncode, code, (words, done.stderr))
            self.assertIn("error[disk-full] write of `standard output` failed",
                          done.stderr)

    def test_the_list_has_every_cause_below_its_family(self):
        causes = pathlib.Path(os.environ["MUSTER_SOURCE"]) / "causes"
        families = {}
        for page in sorted(causes.glob("*/*.md"),
                           key=lambda page: (page.parent.name, page.stem)):
            title = re.search("^title: (.*)$", page.read_text(), re.M)[1]
            families.setdefault(page.parent.name, []).append(
                f"  {page.stem:<25} {title}\n")
        self.assertGreater(len(families), 10)
        self.assertEqual(self.ask("explain", "--list").stdout,
                         "\n".join(f"{family}\n{''.join(lines)}"
                                   for family, lines in families.items()))

    def test_a_reader_that_has_enough_is_no_error(self):
        done = self.ask("explain", "--list",
                        shell="trap '' PIPE; { \"$@\"; echo $? >&2; } | true")
        self.assertEqual(done.stderr, "0\n")

    def test_streams_that_are_closed_are_nobody_elses(self):
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            done = self.ask("explain", "-", shell=f"exec \"$@\" {closed}")
            self.assertEqual(done.returncode, 3, done.stderr)
            if "2" not in closed:
                self.assertIn("nothing to read: -: it is empty",
                              done.stderr)

    def test_a_terminal_sees_what_is_being_read_and_a_file_does_not(self):
        self.write("a.log")
        master, slave = pty.openpty()
        done = subprocess.run(
            [MUSTER, "explain", "a.log"], stderr=slave, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, cwd=self.folder, timeout=60,
            env=clean_environment())
        os.close(slave)
        self.assertEqual(os.read(master, 100), b"reading a.log\r\x1b[K")
        os.close(master)
        self.assertTrue(done.stdout.startswith(b"error[oom-device]"), done.stdout)
        self.assertEqual(self.ask("explain", "a.log").stderr, "")

    def on_terminal(self, *words, columns, stream="stdout", **variables):
        """What muster writes to a terminal of this width as its stream."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        fcntl.ioctl(slave, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 24, columns, 0, 0))
        streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL,
                   stream: slave}
        process = subprocess.Popen(
            [MUSTER, *words], cwd=self.folder, stdin=subprocess.DEVNULL,
            env=clean_environment(NO_GCE_CHECK="true", HOME=str(self.folder),
                                  TERM="xterm", **variables), **streams)
        os.close(slave)
        text = b""
        try:
            while part := os.read(master, 4096):
                text += part
        except OSError:  # the other end is closed
            pass
        process.wait(60)
        return text.decode().replace("\r\n", "\n")

    def test_a_check_is_as_wide_as_its_terminal(self):
        words = ("check", "host", "versions", "-n", "2")
        for columns, variables in ((72, {}), (100, {}), (50, {}),
                                   (100, {"COLUMNS": "72"})):
            text = self.on_terminal(*words, columns=columns, NO_COLOR="1",
                                    **variables)
            width = int(variables.get("COLUMNS", columns))
            table = text.split("\n\n")[1].splitlines()
            self.assertGreater(len(table), 9, text)
            long = [line for line in table
                    if len(line) > width and " " in line.strip()]
            self.assertEqual(long, [], text)
        piped = self.ask(*words, COLUMNS="50").stdout.split("\n\n")[1]
        self.assertEqual([line for line in piped.splitlines()
                          if line.startswith(" " * 9)], [])

    def test_a_check_on_a_terminal_is_colored(self):
        words = ("check", "host.clock", "accelerator.memory", "-n", "2")
        green, dim = "\033[32mok\033[0m ", "\033[2mskip\033[0m "
        text = self.on_terminal(*words, columns=80)
        self.assertIn(green, text)
        self.assertIn(dim, text)
        self.assertNotIn("\033",
                         self.on_terminal(*words, columns=80, NO_COLOR="1"))
        self.assertNotIn("\033", self.ask(*words).stdout)
        self.assertIn(green, self.ask(*words, CLICOLOR_FORCE="1").stdout)

    def test_a_check_counts_its_skips_on_a_terminal(self):
        words = ("check", "-n", "2")
        few = self.on_terminal(*words, columns=80, NO_COLOR="1")
        self.assertNotRegex(few, "(?m)^skip")
        self.assertRegex(few, r"(?m), \d+ skipped \(-v shows why\) in ")
        for all_lines in (
                self.on_terminal(*words, "-v", columns=80, NO_COLOR="1"),
                self.ask(*words).stdout):
            self.assertRegex(all_lines, "(?m)^skip  ")
            self.assertRegex(all_lines, r"(?m), \d+ skipped in ")

    def test_the_safety_of_a_fix_stands_beside_it(self):
        self.write("a.log")
        for columns in range(40, 100, 7):
            text = self.on_terminal("explain", "a.log", columns=columns)
            self.assertIn("asks", text)
            self.assertNotRegex(
                text, r"(?m)^ *(safe|asks|costs)(, changes results)?$", text)

    def test_what_was_not_read_is_said(self):
        self.write("a.log")
        done = self.ask("explain", "a.log", "missing.log", "--output", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning open of `missing.log` failed: ENOENT", done.stderr)
        unread = json.loads(done.stdout)["unread"]
        self.assertEqual(len(unread), 1)
        self.assertIn("missing.log", unread[0])

    def test_a_folder_that_may_not_be_read_is_said(self):
        # Root may read every folder.
        user = NOBODY if os.geteuid() == 0 else None
        program = self.program_of_all()
        folder = self.write("logs/a.log").parent
        closed = self.write("logs/closed/b.log").parent
        os.chmod(closed, 0)
        self.addCleanup(os.chmod, closed, 0o700)
        if self.ask("--version", user=user, program=program).returncode:
            self.skipTest(f"another user may not run {program}")
        done = self.ask("explain", str(folder), "--output", "json", user=user,
                        program=program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{closed}", json.loads(done.stdout)["unread"][0])
        self.assertIn("EACCES", done.stderr)

    def test_nothing_needs_to_be_read_with_an_exit_status(self):
        self.write("empty.log", "")
        for words in (["--exit", "137"], ["empty.log", "--exit", "137"],
                      ["-", "--exit", "137"]):
            done = self.ask("explain", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("exit status 137", done.stdout)

    def test_exit_codes(self):
        self.write("a.log")
        self.write("empty.log", "")
        (self.folder / "folder").mkdir()
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(self.folder / "socket"))
        table = (
            (1, ["resolve", "--require", "nosuchpkg==1"]),
            (1, ["bundle", "a.log", "--archive", "/nonexistent/x.tgz"]),
            (1, ["bundle", "a.log", "--archive", "folder"]),
            (2, ["bundle", "missing.log"]),
            (2, ["bundle"]),
            (2, ["resolve", "--export", "torch", "--output", "json"]),
            (2, ["resolve", "--export", "torch", "--spec"]),
            (2, ["explain", "nosuchfile"]),
            (2, ["explain"]),
            (3, ["explain", "empty.log"]),
            (3, ["explain", "folder"]),
            (3, ["explain", "./socket"]),
            (3, ["explain", "missing.log"]),
            (0, ["help"]),
            (0, ["help", "run"]),
        )
        for code, words in table:
            done = self.ask(*words)
            self.assertEqual(done.returncode, code, (words, done.stderr))
            self.assertNotIn("internal-error", done.stderr, words)
            self.assertNotIn(".tmp-", done.stderr, words)

    def test_a_cloud_that_refuses_or_is_silent_is_no_fault_of_ours(self):
        done = self.ask("resolve", "--tpu", "t", "--project", "p", "--zone",
                        "z")
        self.assertIn(done.returncode, (1, 3), done.stderr)

    def test_help_of_a_usage_error_is_that_of_its_sub_command(self):
        for verb in ("run", "resolve", "check", "explain", "bundle", "tpu"):
            done = self.ask(verb, "--no-such-flag")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"list the flags: muster {verb} --help", done.stderr)
        self.assertIn("list the flags: muster --help",
                      self.ask("nosuchverb").stderr)

    def test_nobody_is_sent_to_what_was_just_typed(self):
        done = self.ask("tpu", "auth")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertNotIn("muster tpu auth  ", done.stderr)

    def test_hosts_in_the_help_are_reached_by_something(self):
        for words in (["--help"], ["run", "--help"]):
            lines = [line for line in self.ask(*words).stdout.splitlines()
                     if "muster run --hosts" in line]
            self.assertTrue(lines)
            for line in lines:
                self.assertRegex(line, "--token-file|--start ssh")


if __name__ == "__main__":
    unittest.main(verbosity=2)
