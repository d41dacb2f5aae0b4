# SPDX-License-Identifier: Apache-2.0
"""The start of the peers' programs: they import first, start on a line of their
input, and stay when they have joined."""
import signal
import sys

READY = "peer: ready"
JOINED = "peer: joined"


def wait_for_start():
    """Prints that everything is imported; returns on a line of input."""
    print(READY, flush=True)
    sys.stdin.readline()


def stay():
    """Prints that it has joined, and waits for a signal."""
    print(JOINED, flush=True)
    signal.pause()
