#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing that a program of bench/ starts is left when it has ended."""
import contextlib
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ["MUSTER_SOURCE"])
START_TIMEOUT = 60  # of three Pythons and two forks
END_TIMEOUT = 5  # what bench/ promises
SAFETY = 90  # seconds after which what this starts ends by itself

# A launcher with two ranks that compute, each in a session of its own; one of
# them ignores SIGTERM. Each makes a file FOLDER/ID when it runs.
LAUNCHER = """
import os, pathlib, signal, sys, time
folder = pathlib.Path(sys.argv[1])
def run():
    signal.alarm({safety})
    (folder / str(os.getpid())).touch()
    while True:
        pass
for ignored in (False, True):
    if os.fork() == 0:
        os.setsid()
        if ignored:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        run()
signal.alarm({safety})
(folder / str(os.getpid())).touch()
signal.pause()
""".format(safety=SAFETY)

# A program of bench/, which prints its id and its parent's.
RUNNER = """
import os, pathlib, subprocess, sys, time
sys.path.insert(0, sys.argv[1])
import processes
def main():
    folder, how = pathlib.Path(sys.argv[2]), sys.argv[3]
    job = subprocess.Popen([sys.executable, "-c", sys.argv[4], folder],
                           start_new_session=True)
    while len(list(folder.iterdir())) < 3:
        time.sleep(0.02)  # they have no way to say it at once
    print(os.getpid(), os.getppid(), flush=True)
    if how == "returns":
        return 3
    if how == "raises":
        raise RuntimeError("of this test")
    if how == "kills":
        job.kill()
    job.wait()
    processes.end_children(1)
    print("ended", flush=True)
    return 0
sys.exit(processes.supervised(main))
"""


class Descendants(unittest.TestCase):
    def start(self, how):
        """A runner whose launcher has started its ranks."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        script = pathlib.Path(self.enterContext(
            tempfile.TemporaryDirectory()), "runner.py")
        script.write_text(RUNNER)
        self.runner = self.enterContext(subprocess.Popen(
            [sys.executable, script, SOURCE / "bench", folder, how, LAUNCHER],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True))
        self.addCleanup(self.runner.kill)
        self.main, self.supervisor = map(int, self.next_line().split())
        self.alive = {}  # descriptors of processes
        for pid in [self.main, self.supervisor,
                    *(int(name) for name in os.listdir(folder))]:
            self.hold(pid)

    def next_line(self):
        ready, _, _ = select.select([self.runner.stdout], [], [], START_TIMEOUT)
        self.assertTrue(ready, f"no line within {START_TIMEOUT} s")
        return self.runner.stdout.readline()

    def hold(self, pid):
        with contextlib.suppress(ProcessLookupError):  # it has ended
            descriptor = os.pidfd_open(pid)
            self.alive[descriptor] = pid
            self.addCleanup(os.close, descriptor)
            self.addCleanup(self.kill, descriptor)

    def kill(self, descriptor):
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)

    def assert_none_is_left(self):
        deadline = time.monotonic() + END_TIMEOUT
        while self.alive:
            ended, _, _ = select.select(
                self.alive, [], [], max(0, deadline - time.monotonic()))
            self.assertTrue(ended, f"left: {list(self.alive.values())}")
            for descriptor in ended:
                del self.alive[descriptor]

    def assert_ends_by(self, number):
        self.start("waits")
        self.runner.send_signal(number)
        self.assert_none_is_left()
        self.assertEqual(self.runner.wait(END_TIMEOUT), -number)

    def test_end_when_it_is_killed(self):
        self.assert_ends_by(signal.SIGKILL)

    def test_end_when_it_is_interrupted(self):
        self.assert_ends_by(signal.SIGINT)

    def test_end_when_it_is_terminated(self):
        self.assert_ends_by(signal.SIGTERM)

    def test_end_when_the_process_of_main_is_killed(self):
        self.start("waits")
        os.kill(self.main, signal.SIGKILL)
        self.assert_none_is_left()
        self.assertEqual(self.runner.wait(END_TIMEOUT), 128 + signal.SIGKILL)

    def test_end_when_both_are_killed(self):
        self.start("waits")
        for pid in (self.runner.pid, self.main):
            os.kill(pid, signal.SIGKILL)
        self.assert_none_is_left()

    def test_end_when_the_supervisor_is_killed(self):
        self.start("waits")
        os.kill(self.supervisor, signal.SIGKILL)
        self.assert_none_is_left()

    def test_end_when_main_returns(self):
        self.start("returns")
        self.assert_none_is_left()
        self.assertEqual(self.runner.wait(END_TIMEOUT), 3)

    def test_end_when_main_raises(self):
        self.start("raises")
        self.assert_none_is_left()
        self.assertEqual(self.runner.wait(END_TIMEOUT), 1)
        self.assertIn("of this test", self.runner.stderr.read())

    def test_end_with_their_measurement(self):
        self.start("kills")
        self.assertEqual(self.next_line(), "ended\n")
        self.assert_none_is_left()
        self.assertEqual(self.runner.wait(END_TIMEOUT), 0)


if __name__ == "__main__":
    unittest.main()
