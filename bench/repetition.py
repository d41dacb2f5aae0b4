# SPDX-License-Identifier: Apache-2.0
"""Rounds of a measurement: all its sides one after the other, so that what else
the machine does slows all of them down."""
import dataclasses
import math
import time
from typing import Callable


@dataclasses.dataclass(frozen=True)
class Side:
    title: str
    measure: Callable  # its value in one round
    workers: int = 2


@dataclasses.dataclass(frozen=True)
class Rounds:
    """How many are wanted, and the seconds for them."""
    wanted: int
    seconds: float = math.inf

    def numbers(self, now=time.monotonic):
        """0, 1 and so on: none that would end too late if it took as long as
        the longest before it, but always the first."""
        began, longest = now(), 0.0
        for number in range(self.wanted):
            round_began = now()
            if number and round_began - began + longest > self.seconds:
                return
            yield number
            longest = max(longest, now() - round_began)


def measure(name, sides, rounds, log):
    """The values of all sides, by their keys: one per round. Every other round
    goes from the last side to the first."""
    values = {key: [] for key in sides}
    for number in rounds.numbers():
        order = list(sides)
        if number % 2:
            order.reverse()
        for key in order:
            log(f"{name} {number + 1}/{rounds.wanted}: {sides[key].title}")
            values[key].append(sides[key].measure())
    return values


def text(made, wanted):
    """Such as "3 rounds", "2 of 3 rounds (no time for more)"."""
    if made < wanted:
        return f"{made} of {wanted} rounds (no time for more)"
    return f"{made} round{'s' if made > 1 else ''}"
