#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The completions in the shells themselves, and the man pages in their readers.

  MUSTER_BINARY=… MUSTER_BUILD=… tests/cli/shells_test.py
"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import time
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from muster_test import MUSTER, clean_environment  # noqa: E402

TIME_LIMIT_S = 30
SHARE = {"bash": "bash-completion/completions/muster",
         "zsh": "zsh/vendor-completions/_muster",
         "fish": "fish/vendor_completions.d/muster.fish"}


class Terminal:
    """An interactive program at a terminal of its own."""

    def __init__(self, argv, folder, **changes):
        environment = clean_environment(TERM="xterm", COLUMNS="200",
                                        HOME=str(folder), **changes)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(argv[0], argv, environment)
        self.text = ""

    def type(self, text):
        os.write(self.fd, text.encode())

    def wait_for(self, pattern):
        """What was shown up to and with the pattern."""
        deadline = time.monotonic() + TIME_LIMIT_S
        while not re.search(pattern, self.text):
            ready, _, _ = select.select([self.fd], [], [],
                                        deadline - time.monotonic())
            if not ready:
                raise AssertionError(f"no {pattern!r} in {self.text!r}")
            try:
                self.text += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                raise AssertionError(f"ended at {self.text!r}") from None
        end = re.search(pattern, self.text).end()
        seen, self.text = self.text[:end], self.text[end:]
        return seen

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


class ShellTest(unittest.TestCase):
    shell = ""

    @classmethod
    def setUpClass(cls):
        if not cls.shell:
            raise unittest.SkipTest("it has no shell")
        if not shutil.which(cls.shell):
            raise unittest.SkipTest(f"{cls.shell} is not installed")
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        (cls.folder / "bin").mkdir()
        (cls.folder / "bin" / "muster").symlink_to(MUSTER)
        done = subprocess.run([MUSTER, "share", str(cls.folder / "share")],
                              check=False)
        assert done.returncode == 0
        cls.script = cls.folder / "share" / SHARE[cls.shell]
        run = cls.folder / "runs" / "20261121-143519-7k2m"
        run.mkdir(parents=True)
        (run / "report.json").write_text("{}")
        (cls.folder / "zz data.log").write_text("")
        cls.environment = {
            "PATH": f"{cls.folder}/bin:{os.environ['PATH']}"}

    @classmethod
    def tearDownClass(cls):
        if hasattr(cls, "scratch"):
            cls.scratch.cleanup()

    def complete(self, *words):
        raise NotImplementedError

    def check_words(self):
        self.assertEqual(self.complete("tpu", "cre"), ["create"])
        self.assertEqual(self.complete("tpu", "queued", ""),
                         ["delete", "describe", "list"])
        self.assertEqual(self.complete("run", "--max-re"),
                         ["--max-recreates", "--max-restarts"])
        self.assertEqual(self.complete("run", "--profile", "torch_"),
                         ["torch_xla"])
        self.assertEqual(self.complete("check", "host.mem"), ["host.memory"])
        self.assertEqual(self.complete("logs", "2026"),
                         ["20261121-143519-7k2m"])
        causes = self.complete("explain", "oom-")
        self.assertEqual(causes, ["oom-device", "oom-host"])


class Bash(ShellTest):
    shell = "bash"

    def complete(self, *words):
        quoted = " ".join(f"'{word}'" for word in ("muster", *words))
        done = subprocess.run(
            ["bash", "--norc", "--noprofile", "-c",
             f"source {self.script}; COMP_WORDS=({quoted}); "
             f"COMP_CWORD={len(words)}; _muster; "
             "printf '%s\\n' \"${COMPREPLY[@]}\""],
            env=clean_environment(**self.environment), cwd=self.folder,
            capture_output=True, text=True, timeout=TIME_LIMIT_S)
        self.assertEqual(done.stderr, "")
        return sorted(done.stdout.split("\n")[:-1])

    def test_completes_words(self):
        self.check_words()

    def test_completes_the_value_after_an_equals_sign(self):
        self.assertEqual(self.complete("run", "--log-level", "=", "d"),
                         ["debug"])

    def test_completes_files(self):
        self.assertEqual(self.complete("explain", "zz"), ["zz data.log"])

    def test_completes_at_a_terminal(self):
        shell = Terminal(["bash", "--norc", "--noprofile", "-i"], self.folder,
                         PS1="ready> ", INPUTRC="/dev/null",
                         **self.environment)
        self.addCleanup(shell.close)
        shell.wait_for("ready> ")
        shell.type(f"source {self.script}\n")
        shell.wait_for("ready> ")
        shell.type("muster tpu cre\t")
        shell.wait_for("muster tpu create ")
        shell.type("\x15muster run --log-level=de\t")
        shell.wait_for("--log-level=debug ")
        shell.type("\x15muster explain zz\t")
        shell.wait_for(r"muster explain zz\\ data\.log ")
        shell.type("\x15exit\n")


class Zsh(ShellTest):
    shell = "zsh"

    def setUp(self):
        self.at = Terminal(["zsh", "-f", "-i"], self.folder, **self.environment)
        self.addCleanup(self.at.close)
        # How it redraws a line is not of interest: a key shows and clears it.
        self.at.type(f"fpath=({self.script.parent} $fpath); "
                     "autoload -Uz compinit; compinit -u -D; LISTMAX=0; "
                     "show() { zle -I; print -r \"LINE<$BUFFER>\"; "
                     "BUFFER= }; "
                     "zle -N show; bindkey '^Xs' show; PS1='ready''> '\n")
        self.at.wait_for("ready> ")

    def test_completes_at_a_terminal(self):
        for typed, wanted in (
                ("muster tpu cre", "muster tpu create "),
                ("muster run --profile torch_",
                 "muster run --profile torch_xla "),
                ("muster run --log-level=de", "muster run --log-level=debug "),
                ("muster check host.mem", "muster check host.memory "),
                ("muster logs 2026", "muster logs 20261121-143519-7k2m "),
                ("muster explain zz", "muster explain zz\\ data.log "),
                ("muster run -- zz", "muster run -- zz\\ data.log ")):
            with self.subTest(typed=typed):
                self.at.type(typed + "\t\x18s")
                shown = self.at.wait_for("LINE<[^>]*>")
                self.assertEqual(shown[shown.rindex("<") + 1:-1], wanted)

    def test_lists_what_there_is(self):
        self.at.type("muster tpu queued \t")
        text = self.at.wait_for("delete +-- delete a queued resource")
        self.assertRegex(text, "describe +-- one queued resource")


class Fish(ShellTest):
    shell = "fish"

    def complete(self, *words):
        line = " ".join(("muster", *words))
        done = subprocess.run(
            ["fish", "--no-config", "-c",
             f"source {self.script}; complete -C '{line}'"],
            env=clean_environment(HOME=str(self.folder), **self.environment),
            cwd=self.folder, capture_output=True, text=True,
            timeout=TIME_LIMIT_S)
        self.assertEqual(done.stderr, "")
        return sorted(line.split("\t")[0] for line in done.stdout.splitlines())

    def test_completes_words(self):
        self.check_words()

    def test_completes_the_value_after_an_equals_sign(self):
        self.assertEqual(self.complete("run", "--log-level=d"),
                         ["--log-level=debug"])

    def test_completes_files(self):
        self.assertEqual(self.complete("explain", "zz"), ["zz data.log"])


class ManPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        subprocess.run([MUSTER, "share", cls.scratch.name], check=True)
        cls.pages = sorted(
            pathlib.Path(cls.scratch.name, "man", "man1").glob("*.1"))

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_there_is_one_for_every_sub_command(self):
        names = {page.name for page in self.pages}
        self.assertLessEqual({"muster.1", "muster-run.1", "muster-tpu.1",
                              "muster-tpu-queued-list.1"}, names)
        self.assertGreaterEqual(len(names), 30)
        self.assertNotIn("muster-share.1", names)

    def test_mandoc_finds_nothing_wrong(self):
        if not shutil.which("mandoc"):
            self.skipTest("mandoc is not installed")
        done = subprocess.run(
            ["mandoc", "-T", "lint", "-W", "warning", *map(str, self.pages)],
            capture_output=True, text=True, timeout=TIME_LIMIT_S)
        # A date would make each build another.
        found = [line for line in done.stdout.splitlines()
                 if "missing date" not in line]
        self.assertEqual(found, [])

    def test_groff_has_no_warnings(self):
        if not shutil.which("groff"):
            self.skipTest("groff is not installed")
        for page in self.pages:
            done = subprocess.run(
                ["groff", "-man", "-Tutf8", "-ww", "-z", str(page)],
                capture_output=True, text=True, timeout=TIME_LIMIT_S)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)


if __name__ == "__main__":
    unittest.main()
