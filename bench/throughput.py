# SPDX-License-Identifier: Apache-2.0
"""Steps per second: two of our workers against PyTorch's, and against
themselves alone. All sides of a round run one after the other, so that what
else the machine does meets all of them."""
import dataclasses
import statistics
from typing import Callable

import sides
from goals import Ratio, print_ratios, spread

GOALS = {
    "mlp": {"ddp": 4, "one": 1.5, "gloo": 1.2},
    "cnn": {"ddp": 1.5, "alone": 0.9, "gloo": 1.1},
}
TITLES = {"mlp": "MLP 784-128-10 (101,770 parameters)",
          "cnn": "CNN conv32-conv64-dense128-10 (225,034 parameters)"}
# So that the steady part takes some seconds, with Gloo and without.
STEPS = {"mlp": {"memory": 4000, "gloo": 1000},
         "cnn": {"memory": 200, "gloo": 200}}


@dataclasses.dataclass(frozen=True)
class Side:
    title: str
    workers: int
    measure: Callable[[], sides.Speed]


def make_sides(model):
    fast, gloo = STEPS[model]["memory"], STEPS[model]["gloo"]

    def one(argv):
        return sides.measure(sides.on_core(0, argv))

    return {
        "ours": Side("muster, shared memory", 2, lambda: sides.measure(
            sides.muster(model, fast))),
        "gloo": Side("muster, Gloo forced", 2, lambda: sides.measure(
            sides.muster(model, gloo), MUSTER_COLLECTIVE="gloo")),
        "alone": Side("muster, two without communication", 2,
                      lambda: sides.measure_alone(model, fast)),
        "one": Side("muster, one worker", 1,
                    lambda: one(sides.trainer(model, fast, 1))),
        "ddp": Side("PyTorch DDP + Gloo", 2, lambda: sides.measure(
            sides.torchrun(model, gloo))),
        "tuned": Side("PyTorch DDP + Gloo, fused Adam", 2,
                      lambda: sides.measure(
                          sides.torchrun(model, gloo, "--tuned"))),
        "torch": Side("PyTorch, one worker", 1, lambda: one(
            [sides.PYTHON, *sides.ddp(model, fast)])),
    }


def run(model, rounds, say):
    """Measures a model; its document."""
    all_sides = make_sides(model)
    speeds = {key: [] for key in all_sides}
    for number in range(rounds):
        order = list(all_sides)
        if number % 2:
            order.reverse()
        for key in order:
            say(f"{model} {number + 1}/{rounds}: {all_sides[key].title}")
            speeds[key].append(all_sides[key].measure())
    rates = {key: [speed.steps_per_s for speed in measured]
             for key, measured in speeds.items()}
    return {"model": model, "batch_per_worker": sides.BATCH,
            "sides": {key: {"title": side.title, "workers": side.workers,
                            "layout": speeds[key][0].layout,
                            "steps_per_s": rates[key]}
                      for key, side in all_sides.items()},
            "ratios": make_ratios(model, rates)}


def make_ratios(model, rates):
    goals = GOALS[model]

    def of(key, other, text, goal=None, factor=1.0):
        values = tuple(factor * a / b
                       for a, b in zip(rates[key], rates[other]))
        return Ratio(text, values, least=goals.get(goal))

    return [
        of("ours", "ddp", "steps/s: muster / DDP", "ddp"),
        of("ours", "tuned", "steps/s: muster / DDP with fused Adam, ch. last"),
        of("ours", "one", "samples/s: two workers / one worker", "one", 2.0),
        of("ours", "alone", "steps/s: two workers / two without communication",
           "alone"),
        of("gloo", "ddp", "steps/s: muster with Gloo forced / DDP", "gloo"),
        of("ddp", "torch", "samples/s: DDP, two workers / PyTorch, one worker",
           factor=2.0),
    ]


def show(document):
    print(f"\n{TITLES[document['model']]}, {sides.BATCH} samples per worker, "
          "Adam, one thread and one core each")
    print(f"  {'':<36}{'layout':<16}{'samples/s':>9}  steps/s: median, range")
    for side in document["sides"].values():
        samples = (statistics.median(side["steps_per_s"]) * side["workers"]
                   * sides.BATCH)
        print(f"  {side['title']:<36}{side['layout']:<16}{samples:>9,.0f}"
              f"  {spread(side['steps_per_s'])}")
    print()
    print_ratios(document["ratios"])
