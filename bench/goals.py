# SPDX-License-Identifier: Apache-2.0
"""Ratios with their goals, and their table."""
import dataclasses
import math
import statistics


def finite(value):
    """JSON has no infinity: what never came is null."""
    return None if value == math.inf else value


@dataclasses.dataclass(frozen=True)
class Ratio:
    """A comparison of two sides measured in the same rounds."""
    text: str
    values: tuple  # one per round
    least: float | None = None  # goal
    most: float | None = None  # goal
    unit: str = ""

    @property
    def median(self):
        return statistics.median(self.values) if self.values else None

    @property
    def goal(self):
        if self.least is not None:
            return f">= {self.least:.3g}{self.unit}"
        return f"<= {self.most:.3g}{self.unit}" if self.most is not None else ""

    @property
    def met(self):
        """None where there is no goal, or nothing to hold against it."""
        if self.median is None or not self.goal:
            return None
        if self.least is not None:
            return self.median >= self.least
        return self.median <= self.most

    def as_json(self):
        return {"text": self.text, "median": finite(self.median),
                "values": [finite(value) for value in self.values],
                "goal": self.goal or None, "met": self.met}


def spread(values):
    """Median with the smallest and the largest: "5.81  5.52 to 6.03"."""
    def short(value):
        return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
    if not values:
        return f"{'-':>7}"
    return (f"{short(statistics.median(values)):>7}  "
            f"{short(min(values))} to {short(max(values))}")


def print_ratios(ratios):
    for ratio in ratios:
        verdict = {True: "met", False: "MISSED", None: ""}[ratio.met]
        print(f"  {ratio.text:<52}{spread(ratio.values):<25}"
              f"{ratio.goal:<10}{verdict}")
