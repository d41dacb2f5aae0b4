#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jax.distributed.initialize, and one gathering of 4 MB of every process.

    jax_joins.py COORDINATOR PROCESSES PROCESS
"""
import sys

import jax
import numpy
import start_signal
from jax.experimental import multihost_utils

FLOATS = 1 << 20

coordinator, processes, process = sys.argv[1:]
start_signal.wait_for_start()
jax.distributed.initialize(coordinator, int(processes), int(process))
everything = multihost_utils.process_allgather(
    numpy.ones(FLOATS, numpy.float32))
assert everything.shape == (int(processes), FLOATS)
start_signal.stay()
