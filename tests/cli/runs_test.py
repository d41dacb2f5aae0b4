#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`muster runs`, `muster logs` and muster.toml with runs that are real.

  MUSTER_BINARY=… MUSTER_BUILD=… tests/cli/runs_test.py
"""
import json
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from muster_test import MUSTER, MusterTest, clean_environment, wait_until  # noqa: E402


class RunsTest(MusterTest):
    def ask(self, *argv, **changes):
        return subprocess.run([MUSTER, *argv], cwd=self.folder, text=True,
                              env=clean_environment(**changes), timeout=60,
                              capture_output=True, stdin=subprocess.DEVNULL)

    def states(self):
        document = json.loads(
            self.ask("runs", "--output", "json").stdout)
        return [(run["state"], run["exit_code"], run["cause"])
                for run in document["runs"]]

    def wait_for_runs(self, count):
        wait_until(lambda: len(self.states()) == count, 30, f"{count} runs")

    def test_lists_a_run_that_is_running_one_that_failed_and_one_lost(self):
        self.muster("run", "-n", "1", "--", "sh", "-c", "exit 3")
        self.assertEqual(self.states(), [("ended", 3, "app-exception")])
        lost = self.start("run", "-n", "1", "--", "sleep", "60")
        self.wait_for_runs(2)
        self.assertEqual(self.states()[0], ("running", None, None))
        lost.process.send_signal(signal.SIGKILL)
        lost.process.wait()
        self.assertEqual(self.states()[0], ("lost", None, None))

    def test_prunes_what_has_ended_and_never_what_runs(self):
        for _ in range(3):
            self.muster("run", "-n", "1", "--", "true")
        self.start("run", "-n", "1", "--", "sleep", "60")
        self.wait_for_runs(4)
        refused = self.ask("runs", "prune", "--keep", "0")
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("add --yes", refused.stderr)
        dry = self.ask("runs", "prune", "--keep", "2", "--dry-run")
        self.assertIn("2 runs would be deleted, 2 kept", dry.stdout)
        done = self.ask("runs", "prune", "--keep", "0", "--yes")
        self.assertIn("3 runs deleted, 1 kept", done.stdout)
        self.assertEqual([state for state, _, _ in self.states()], ["running"])
        # It goes on as if nothing had been.
        self.assertIn("sleep", self.ask("runs").stdout)

    def test_prints_the_lines_of_all_ranks_and_none_of_their_escapes(self):
        self.muster("run", "-n", "3", "--", "sh", "-c",
                    "echo same; printf 'title \\033]0;x\\007%s\\n' $RANK")
        shown = self.ask("logs").stdout
        self.assertIn("[0-2] same\n", shown)
        self.assertIn("[1] title \\x1b]0;x\\x071\n", shown)
        self.assertNotIn("\x1b", shown)
        self.assertNotIn("same", self.ask("logs", "--grep", "title").stdout)

    def test_follows_a_run_until_it_has_ended(self):
        run = self.start("run", "-n", "2", "--", "sh", "-c",
                         "for i in 1 2 3; do echo tick $i; sleep 0.3; done")
        run.pid_of(1)
        shown = self.ask("logs", "--follow")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        for number in range(1, 4):
            self.assertIn(f"tick {number}\n", shown.stdout)
        run.wait()

    def test_takes_settings_and_variables_of_ranks_from_a_file(self):
        (self.folder / "muster.toml").write_text(
            'runs-dir = "elsewhere"\n[env]\nMODE = "fast"\nKIND = "file"\n')
        done = self.muster("run", "-n", "1", "--env", "KIND=flag", "--", "sh",
                           "-c", "echo $MODE $KIND")
        self.assertIn("fast flag", done.out)
        self.assertEqual(len(list((self.folder / "elsewhere").iterdir())), 2)
        self.assertIn("fast flag", self.ask("logs").stdout)
        self.assertIn("no runs in runs",
                      self.ask("runs", MUSTER_RUNS_DIR="runs").stdout)
        (self.folder / "muster.toml").chmod(0o666)
        refused = self.ask("runs", "--output", "json")
        self.assertIn('"cause": "file-permission"', refused.stdout)
        self.assertEqual(self.ask("runs", "--config", "none").returncode, 0)


if __name__ == "__main__":
    unittest.main()
