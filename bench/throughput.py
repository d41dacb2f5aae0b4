# SPDX-License-Identifier: Apache-2.0
"""Steps per second: two workers of muster against PyTorch's, and against
themselves alone."""
import statistics

import jobs
import repetition
from goals import Ratio, print_ratios, spread
from repetition import Side

GOALS = {
    "mlp": {"ddp": 4, "one": 1.5, "gloo": 1.2},
    "cnn": {"ddp": 1.5, "alone": 0.9, "gloo": 1.1},
}
TITLES = {"mlp": "MLP 784-128-10 (101,770 parameters)",
          "cnn": "CNN conv32-conv64-dense128-10 (225,034 parameters)"}
# So that the steady part takes a second or more of the fastest.
STEPS = {"mlp": {"memory": 4000, "gloo": 1000},
         "cnn": {"memory": 200, "gloo": 200}}


def make_sides(model):
    memory, gloo = STEPS[model]["memory"], STEPS[model]["gloo"]

    def one(argv):
        return jobs.measure(jobs.on_core(0, argv))

    return {
        "ours": Side("muster, shared memory", lambda: jobs.measure(
            jobs.muster(model, memory))),
        "gloo": Side("muster, Gloo forced", lambda: jobs.measure(
            jobs.muster(model, gloo), MUSTER_COLLECTIVE="gloo")),
        "alone": Side("muster, two without communication",
                      lambda: jobs.measure_alone(model, memory)),
        "one": Side("muster, one worker",
                    lambda: one(jobs.trainer(model, memory, 1)), 1),
        "ddp": Side("PyTorch DDP + Gloo", lambda: jobs.measure(
            jobs.torchrun(model, gloo))),
        "tuned": Side("PyTorch DDP + Gloo, fused Adam", lambda: jobs.measure(
            jobs.torchrun(model, gloo, "--tuned"))),
        "torch": Side("PyTorch, one worker", lambda: one(
            [jobs.PYTHON, *jobs.ddp(model, gloo)]), 1),
    }


def run(model, rounds, log):
    """Measures a model; its document."""
    sides = make_sides(model)
    speeds = repetition.measure(model, sides, rounds, log)
    rates = {key: [speed.steps_per_s for speed in measured]
             for key, measured in speeds.items()}
    return {"model": model, "batch_per_worker": jobs.BATCH,
            "rounds": len(rates["ours"]), "rounds_wanted": rounds.wanted,
            "sides": {key: {"title": side.title, "workers": side.workers,
                            "layout": speeds[key][0].layout,
                            "steps_per_s": rates[key]}
                      for key, side in sides.items()},
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
    print(f"\n{TITLES[document['model']]}, {jobs.BATCH} samples per worker, "
          "Adam, one thread and one core each; "
          + repetition.text(document["rounds"], document["rounds_wanted"]))
    print(f"  {'':<36}{'layout':<16}{'samples/s':>9}  steps/s: median, range")
    for side in document["sides"].values():
        samples = (statistics.median(side["steps_per_s"]) * side["workers"]
                   * jobs.BATCH)
        print(f"  {side['title']:<36}{side['layout']:<16}{samples:>9,.0f}"
              f"  {spread(side['steps_per_s'])}")
    print()
    print_ratios(document["ratios"])
