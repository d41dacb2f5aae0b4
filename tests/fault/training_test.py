#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real training run, and what it does when a worker is killed or stopped."""
import hashlib
import os
import pathlib
import re
import signal
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from muster_test import BUILD, MusterTest, alive, wait_until  # noqa: E402

TRAIN = BUILD / "fashion_mnist"


def digests(folder):
    """Digest of every file of the newest checkpoint."""
    steps = sorted(p for p in pathlib.Path(folder).iterdir()
                   if p.is_dir() and re.search(r"\d", p.name))
    return steps[-1].name, {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(steps[-1].iterdir())}


class Training(MusterTest):
    def train(self, name, *flags, **options):
        folder = self.folder / name
        return self.start(
            "run", "-n", "2", *flags, "--", TRAIN, "--epochs", "2", "--every",
            "100", "--checkpoints", folder / "checkpoints", folder=folder,
            **options)

    def wait_for_checkpoint(self, name):
        wait_until(lambda: list((self.folder / name / "checkpoints")
                                .glob("*/manifest.json")),
                   30, "a first checkpoint")

    def test_a_killed_worker_costs_steps_and_nothing_else(self):
        calm = self.train("calm").wait()
        self.assertEqual(calm.code, 0, calm.err)

        running = self.train("killed")
        self.wait_for_checkpoint("killed")
        os.kill(running.pid_of(1), signal.SIGKILL)
        killed = running.wait()
        self.assertEqual(killed.code, 0, killed.err)
        self.assertEqual(digests(self.folder / "killed" / "checkpoints"),
                         digests(self.folder / "calm" / "checkpoints"))
        finding = self.assert_finding(killed, "peer-died")
        text = str(finding)
        self.assertIn("rank 1", text)
        self.assertIn("SIGKILL", text)
        self.assertRegex((killed.run / "report.md").read_text(),
                         r"lost steps|steps lost|[0-9]+ steps? (were )?lost")

    def test_a_stopped_worker_is_named_with_its_state(self):
        running = self.train("stopped", "--progress-timeout", "2s")
        self.wait_for_checkpoint("stopped")
        pid = running.pid_of(1)
        os.kill(pid, signal.SIGSTOP)
        done = running.wait()
        self.assertEqual(done.code, 0, done.err)
        text = str(self.assert_finding(done, "no-progress"))
        self.assertIn("rank 1", text)
        self.assertRegex(text, r"state T|stopped")
        self.assertFalse(alive(pid))

    def test_a_stopped_worker_without_budget_is_124(self):
        running = self.train("budget", "--progress-timeout", "2s",
                             "--max-restarts", "0")
        self.wait_for_checkpoint("budget")
        os.kill(running.pid_of(0), signal.SIGSTOP)
        done = running.wait()
        self.assertEqual(done.code, 124, done.err)
        self.assertIn("rank 0", str(self.assert_finding(done, "no-progress")))

    def test_a_worker_killed_without_a_restart_left_ends_with_its_signal(self):
        running = self.train("last", "--max-restarts", "0")
        self.wait_for_checkpoint("last")
        os.kill(running.pid_of(0), signal.SIGKILL)
        done = running.wait()
        self.assertEqual(done.code, 128 + signal.SIGKILL, done.err)
        self.assertEqual(done.report["exit"]["origin"], "signal")


if __name__ == "__main__":
    unittest.main()
