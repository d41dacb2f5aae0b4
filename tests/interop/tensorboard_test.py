#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real TensorBoard reads the event files that muster writes."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from interop_python import interop_python

PYTHON = interop_python("tensorboard")
if pathlib.Path(sys.executable) != pathlib.Path(PYTHON):
    os.execv(PYTHON, [str(PYTHON), *sys.argv])

from tensorboard.backend.event_processing import (  # noqa: E402
    event_accumulator)

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
