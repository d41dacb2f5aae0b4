# SPDX-License-Identifier: Apache-2.0
"""Two faults at the same time."""
import dataclasses

from faults import (ENDPOINT, FILTERED, absent, clock, down, large_lost, on,
                    stranger)
from scene import PORT, Fault


def _at(rank):
    return [
        Fault("port dropped", FILTERED, (rank,),
              on(rank, "input", f"tcp dport {PORT} drop"), size=5),
        Fault("nothing gets out", FILTERED, (rank,),
              on(rank, "output", f"tcp dport {PORT} ct state new drop"),
              size=5),
        Fault("host down", FILTERED, (rank,), down(rank), size=5),
        Fault("not started", "rendezvous-timeout", (rank,), absent(rank),
              size=5),
        Fault("HTTP server", ENDPOINT, (rank,), stranger(rank, "http"),
              size=5),
        Fault("large packets lost", "net-mtu", (rank,), large_lost(rank),
              size=5),
        Fault("clock ahead", "clock-skew", (rank,), clock(rank, 600), size=5),
    ]


def _seen(first, second):
    """Of what not every host can see, the ones that saw it are named, too."""
    if first.name == "nothing gets out" and second.cause in (
            "rendezvous-timeout", ENDPOINT, "net-mtu"):
        return dataclasses.replace(second, also=(0, 2, 4))
    return second


def of_seven():
    """Any two of seven faults, on two hosts of five."""
    first, second = _at(1), _at(3)
    return [(first[i], _seen(first[i], second[j])) for i in range(len(first))
            for j in range(i + 1, len(second))]
