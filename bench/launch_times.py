# SPDX-License-Identifier: Apache-2.0
"""Seconds from the launch to the first step, and from the kill of a worker to
the next one: muster against torchrun."""
import math
import os
import signal
import time

import jobs
import repetition
from goals import Ratio, print_ratios, spread
from repetition import Side

START_TIMEOUT = 60  # seconds from the launch
RECOVERY_TIMEOUT = 30  # seconds from the kill; a launch takes a tenth
LONG = 10_000_000  # steps: ended from outside

NEW_STORE = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}


def wait_for(running, condition, seconds, what):
    """The first true value of condition()."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        if running.process.poll() is not None and not condition():
            raise jobs.JobError(f"ended with {running.process.returncode} "
                                f"before: {what}\n{running.tail()}")
        time.sleep(0.01)  # the traces hold the exact times
    raise jobs.JobError(f"not within {seconds} s: {what}")


def all_traces(running, wanted):
    """One wanted point of every rank; None while one of them is missing."""
    found = [next(filter(wanted, running.trace(rank)), None)
             for rank in range(jobs.WORKERS)]
    return found if all(found) else None


def first_step(argv, **changes):
    """Seconds from the launch to the first step of the last rank."""
    with jobs.job(argv, **changes) as running:
        points = wait_for(running, lambda: all_traces(running, bool),
                          START_TIMEOUT, "a first step")
        return max(point.at for point in points) - running.began


def recovery(argv, **changes):
    """Seconds from the kill of rank 1 to the next step of the last rank; None
    where there is none."""
    with jobs.job(argv, **changes) as running:
        before = wait_for(
            running,
            lambda: all_traces(running, lambda point: point.step >= 200),
            START_TIMEOUT, "200 steps")
        killed = time.monotonic()
        old = {point.pid for point in before}
        os.kill(before[1].pid, signal.SIGKILL)
        try:
            after = wait_for(
                running,
                lambda: all_traces(running, lambda point: point.pid not in old),
                RECOVERY_TIMEOUT, "a new step")
        except jobs.JobError:
            return None
        return max(point.at for point in after) - killed


def start_sides():
    return {
        "ours": Side("muster run",
                     lambda: first_step(jobs.muster("mlp", LONG))),
        "torchrun": Side("torchrun",
                         lambda: first_step(jobs.torchrun("mlp", LONG))),
    }


def recovery_sides():
    ours = jobs.muster("mlp", LONG, "--checkpoints", "{}/checkpoints",
                       "--every", 100)

    def theirs(**changes):
        return recovery(
            jobs.torchrun("mlp", LONG, "--checkpoint", "{}/checkpoint",
                          "--every", 100, flags=("--max-restarts", 3)),
            **changes)

    return {
        "ours": Side("muster run", lambda: recovery(ours)),
        "torchrun": Side("torchrun --max-restarts 3", theirs),
        "new store": Side("the same, with a new store for each attempt",
                          lambda: theirs(**NEW_STORE)),
    }


MEASURED = {"startup": (start_sides, "launch to first step done"),
            "recovery": (recovery_sides, "kill -9 of a worker to first step")}


def run(name, rounds, log):
    """Measures one of MEASURED; its document."""
    make_sides, what = MEASURED[name]
    sides = make_sides()
    seconds = repetition.measure(name, sides, rounds, log)
    return {"what": what, "rounds": len(seconds["ours"]),
            "rounds_wanted": rounds.wanted,
            "sides": {key: {"title": side.title, "seconds": seconds[key]}
                      for key, side in sides.items()},
            "ratios": make_ratios(name, seconds)}


def make_ratios(name, seconds):
    """A round in which muster did not recover has an infinite time; one in
    which only the other did not has no ratio."""
    def time_of(ours):
        return math.inf if ours is None else ours

    def of(other, text, most):
        pairs = zip(seconds["ours"], seconds[other])
        return Ratio(text, tuple(time_of(ours) / theirs for ours, theirs in pairs
                                 if theirs is not None), most=most)

    if name == "startup":
        return [of("torchrun", "muster / torchrun", 1 / 4)]
    return [
        Ratio("muster, seconds", tuple(map(time_of, seconds["ours"])), most=1.5,
              unit=" s"),
        of("torchrun", "muster / torchrun, where it recovers", 1 / 3),
        of("new store", "muster / torchrun with a new store", 1 / 3),
    ]


def show(document):
    print(f"\n{document['what']}, MLP, two workers (seconds); "
          + repetition.text(document["rounds"], document["rounds_wanted"]))
    for side in document["sides"].values():
        good = [value for value in side["seconds"] if value is not None]
        failed = len(side["seconds"]) - len(good)
        print(f"  {side['title']:<52}{spread(good):<24}"
              + (f"no new step within {RECOVERY_TIMEOUT} s: {failed} of "
                 f"{len(side['seconds'])}" if failed else ""))
    print()
    print_ratios(document["ratios"])
