#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real TensorBoard reads the event files that muster writes.

$MUSTER_INTEROP_PYTHON names the Python that has the package; without it this
one is asked.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PYTHON = os.environ.get("MUSTER_INTEROP_PYTHON", sys.executable)
if pathlib.Path(PYTHON) != pathlib.Path(sys.executable):
    os.execv(PYTHON, [PYTHON, *sys.argv])

try:
    from tensorboard.backend.event_processing import event_accumulator
except ImportError as error:
    print(f"skipped: the Python package tensorboard is absent ({error})")
    sys.exit(77)

WRITER = pathlib.Path(os.environ["MUSTER_BUILD"]) / "write_event_file"


class EventFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        subprocess.run([WRITER, folder.name], check=True)
        self.events = event_accumulator.EventAccumulator(folder.name)
        self.events.Reload()

    def test_every_scalar_is_there(self):
        self.assertEqual(sorted(self.events.Tags()["scalars"]),
                         ["input_wait", "loss", "steps_per_second"])

    def test_values_come_with_their_steps_and_times(self):
        loss = self.events.Scalars("loss")
        self.assertEqual([point.step for point in loss],
                         [0, 100, 200, 300, 400, 500])
        for point in loss:
            self.assertAlmostEqual(point.value, 1 / (1 + point.step), places=6)
        self.assertLessEqual(loss[0].wall_time, loss[-1].wall_time)
        self.assertGreater(loss[0].wall_time, 1.7e9)


if __name__ == "__main__":
    unittest.main()
