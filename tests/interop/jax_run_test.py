#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A JAX program that calls jax.distributed.initialize() as it is, without
arguments."""
import pathlib
import sys
import unittest

from interop_python import interop_python

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / "support"))
from muster_test import MusterTest  # noqa: E402

PYTHON = interop_python("jax")
PROGRAM = """
import jax
jax.distributed.initialize()
from jax.experimental import multihost_utils
import jax.numpy as jnp
ids = multihost_utils.process_allgather(jnp.array([jax.process_index()]))
print("of", jax.process_count(), "processes:", sorted(ids.ravel().tolist()))
"""


class JaxRun(MusterTest):
    def test_initialize_needs_no_arguments(self):
        done = self.muster("run", "-n", 2, "--profile", "jax", "--", PYTHON,
                           "-c", PROGRAM, JAX_PLATFORMS="cpu")
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(done.out.count("of 2 processes: [0, 1]"), 2, done.out)


if __name__ == "__main__":
    unittest.main()
