# SPDX-License-Identifier: Apache-2.0
"""What programs of peers have in common that faults are played with: they
import first, begin when they are told to, and stay when they have joined."""
import signal
import sys

READY = "peer: ready"
JOINED = "peer: joined"


def wait_for_word():
    """Says that everything is imported; returns when a line has come."""
    print(READY, flush=True)
    sys.stdin.readline()


def stay():
    """Says that it has joined, and waits for whoever ends it."""
    print(JOINED, flush=True)
    signal.pause()
