# SPDX-License-Identifier: Apache-2.0
"""What is true of any unmodified program that saves and resumes by itself, when
one of its ranks is killed under `muster run`."""
import os
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / "support"))
from muster_test import MusterTest, wait_until  # noqa: E402


class SurvivesKill(MusterTest):
    """Derive, and call survive() from one test."""

    def survive(self, argv, saved, seconds):
        """Kills rank 1 as soon as saved() is true; the finished run."""
        running = self.start("run", "-n", "2", "--", *argv)
        wait_until(saved, seconds, f"a first checkpoint\n{running.text()}")
        victim = running.pid_of(1)
        os.kill(victim, signal.SIGKILL)
        done = running.wait(2 * seconds)
        self.assertEqual(done.code, 0, done.err)
        self.assertIn("resumed at step ", done.out)
        self.assertIn("finished step ", done.out)
        self.assertGreaterEqual(len(done.report["attempts"]), 2, done.err)
        self.check_blame(done)
        return done

    def check_blame(self, done):
        """Of the first attempt rank 1 is the root, rank 0 its victim, and not
        the reverse. A later one may fail by a fault of the framework's own:
        libtorch has been seen to abort as it connects."""
        root = self.assert_finding(done, "peer-died")
        failed = len(done.report["attempts"]) - 1
        self.assertEqual(len(done.report["findings"]), failed, done.err)
        self.assertIn("rank 1", root["what"])
        self.assertIn("SIGKILL", root["what"])
        self.assertEqual(len(root["victims"]), 1, root)
        self.assertTrue(root["victims"][0].startswith("rank 0:"), root)
