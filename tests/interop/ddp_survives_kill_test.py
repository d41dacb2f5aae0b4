#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A PyTorch DDP program, as it is, survives kill -9 of a rank. (Under torchrun
2.13 the same program and kill fail or hang: the ranks of the next attempt read
the last one's addresses from a store that is kept.)"""
import pathlib
import unittest

from interop_python import interop_python
from survival import SurvivesKill

PYTHON = interop_python("torch")
PROGRAM = pathlib.Path(__file__).with_name("ddp_program.py")


class Ddp(SurvivesKill):
    def test_a_killed_rank_is_named_and_the_training_ends(self):
        checkpoint = self.folder / "checkpoint.pt"
        self.survive([PYTHON, PROGRAM, checkpoint], checkpoint.exists,
                     seconds=60)


if __name__ == "__main__":
    unittest.main()
