#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program with TensorFlow's MultiWorkerMirroredStrategy, as it is, survives
kill -9 of a worker. All it is told is TF_CONFIG."""
import pathlib
import unittest

from interop_python import interop_python
from survival import SurvivesKill

PYTHON = interop_python("tensorflow")
PROGRAM = pathlib.Path(__file__).with_name("tf_program.py")


class TensorFlow(SurvivesKill):
    def test_a_killed_worker_is_named_and_the_training_ends(self):
        chief = self.folder / "saved" / "worker0"
        self.survive([PYTHON, PROGRAM, chief.parent],
                     (chief / "checkpoint").exists, seconds=90)


if __name__ == "__main__":
    unittest.main()
