#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package safetensors reads a checkpoint of ours."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from interop_python import interop_python, skip

PYTHON = interop_python("safetensors", "numpy")
if pathlib.Path(sys.executable) != pathlib.Path(PYTHON):
    os.execv(PYTHON, [str(PYTHON), *sys.argv])

import numpy  # noqa: E402
from safetensors import safe_open  # noqa: E402

TRAIN = pathlib.Path(os.environ["MUSTER_BUILD"]) / "fashion_mnist"
if not TRAIN.exists():
    skip(f"{TRAIN} is not built")

SHAPES = {"layers0.weight": [128, 784], "layers0.bias": [128],
          "layers1.weight": [10, 128], "layers1.bias": [10]}


class Safetensors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        subprocess.run([TRAIN, "--epochs", "1", "--checkpoints", folder.name],
                       check=True, stdout=subprocess.DEVNULL)
        newest = sorted(pathlib.Path(folder.name).glob("step-*"))[-1]
        cls.file = cls.enterClassContext(
            safe_open(newest / "model.safetensors", framework="numpy"))

    def shapes(self):
        return {name: self.file.get_slice(name).get_shape()
                for name in self.file.keys()}

    def test_the_model_is_there_by_name_and_shape(self):
        model = {name: shape for name, shape in self.shapes().items()
                 if not name.startswith("optimizer/")}
        self.assertEqual(model, SHAPES)

    def test_the_optimizer_has_moments_for_every_parameter(self):
        shapes = self.shapes()
        for name, shape in SHAPES.items():
            for moment in ("exp_avg", "exp_avg_sq"):
                self.assertEqual(shapes[f"optimizer/{name}/{moment}"], shape)

    def test_every_value_is_finite(self):
        for name in self.file.keys():
            with self.subTest(name):
                values = self.file.get_tensor(name)
                self.assertTrue(numpy.isfinite(values).all())
                self.assertGreater(values.size, 0)

    def test_the_metadata_names_step_and_writer(self):
        metadata = self.file.metadata()
        self.assertEqual(metadata["muster.step"], "469")
        self.assertRegex(metadata["muster.writer"], r"^muster \d")


if __name__ == "__main__":
    unittest.main()
