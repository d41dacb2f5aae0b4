#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""muster's measurements on this machine, most of them against PyTorch: tables
of ratios and their goals, each as soon as it is measured.

Started by `make bench`, which builds the programs and makes the environment.
Machines differ: a ratio below its goal is only printed as such. The exit code
is 1 where one of the first three misses its goal, or anything is not measured.
Everything runs on the loopback interface.
"""
import argparse
import dataclasses
import json
import math
import platform
import subprocess
import sys
import time

import jobs
import launch_times
import processes
import repetition
import throughput
from goals import Ratio

RESOLVE = jobs.BUILD / "bench" / "resolve_bench"
TIME_LIMIT = 12 * 60  # seconds for all, unless --rounds says how many


@dataclasses.dataclass(frozen=True)
class Program:
    """A measurement by a program of its own, which prints its table."""
    what: str
    seconds: float  # about, on two cores
    argv: tuple


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Rounds of muster and PyTorch, by a module of this folder."""
    what: str
    rounds: int
    round_seconds: float  # about, on two cores
    module: object

    @property
    def seconds(self):
        return self.rounds * self.round_seconds


PARTS = {
    "resolve": Program(
        "resolving clusters of 4096 hosts", 2, (RESOLVE,)),
    "process": Program(
        "muster as a process: --version, resolve, check, run", 6,
        (jobs.PYTHON, jobs.HERE / "process_times.py")),
    "tpu": Program(
        "`muster tpu list` against google-cloud-tpu", 20,
        (jobs.PYTHON, jobs.HERE / "tpu_list.py")),
    "mlp": Comparison(
        "steps per second of an MLP, seven kinds of workers", 3, 45,
        throughput),
    "cnn": Comparison(
        "steps per second of a CNN, seven kinds of workers", 3, 50, throughput),
    "startup": Comparison(
        "launch to the first step, muster run and torchrun", 5, 7,
        launch_times),
    "recovery": Comparison(
        "kill of a worker to the next step, muster run and torchrun", 3, 65,
        launch_times),
}


def parse_arguments():
    parser = argparse.ArgumentParser(
        description="muster's measurements, most of them against PyTorch DDP.")
    parser.add_argument(
        "--rounds", type=int,
        help="of each comparison, however long they take; by default 3 or 5, "
        f"and fewer where all would take over {TIME_LIMIT // 60} minutes")
    parser.add_argument("--only", action="append", choices=PARTS,
                        metavar="NAME", help=", ".join(PARTS))
    parser.add_argument("--output", choices=("text", "json"), default="text")
    arguments = parser.parse_args()
    if arguments.rounds is not None and arguments.rounds < 1:
        parser.error("--rounds must be 1 or more")
    return arguments


def why_not():
    """What is missing for a measurement; empty when nothing is."""
    if len(jobs.CORES) < jobs.WORKERS:
        return f"{jobs.WORKERS} cores are needed, one per worker"
    for path in (jobs.MUSTER, jobs.TRAIN, RESOLVE, jobs.TORCHRUN):
        if not path.exists():
            return f"{path} is missing: start this by `make bench`"
    return ""


def log(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def duration(seconds):
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


class Bench:
    """The measurements that are asked for, one after the other."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.parts = {name: self.with_rounds(PARTS[name])
                      for name in arguments.only or PARTS}
        self.began = time.monotonic()
        self.documents = {}
        self.missed = []  # programs that did not reach their goals

    def with_rounds(self, part):
        if self.arguments.rounds and isinstance(part, Comparison):
            return dataclasses.replace(part, rounds=self.arguments.rounds)
        return part

    def elapsed(self):
        return time.monotonic() - self.began

    def share(self, name):
        """Seconds for a comparison: its part of what is left."""
        if self.arguments.rounds:
            return math.inf
        names = list(self.parts)
        left = [self.parts[one].seconds for one in names[names.index(name):]]
        return (TIME_LIMIT - self.elapsed()) * left[0] / sum(left)

    def measure(self):
        total = sum(part.seconds for part in self.parts.values())
        log(f"{', '.join(self.parts)}: about {duration(total)}")
        for name, part in self.parts.items():
            if isinstance(part, Program):
                self.run_program(name, part)
            else:
                self.compare(name, part)
        log(f"done in {duration(self.elapsed())}")

    def run_program(self, name, part):
        log(f"{name}: {part.what}; about {duration(part.seconds)}")
        # Only the document goes to the output.
        output = sys.stderr if self.arguments.output == "json" else sys.stdout
        if subprocess.run(part.argv, stdout=output, check=False).returncode:
            self.missed.append(name)

    def compare(self, name, part):
        log(f"{name}: {part.what}; "
            f"{repetition.text(part.rounds, part.rounds)}, about "
            f"{duration(part.seconds)}")
        document = part.module.run(
            name, repetition.Rounds(part.rounds, self.share(name)), log)
        self.documents[name] = document
        if self.arguments.output == "text":
            part.module.show(document)


def as_json(value):
    if isinstance(value, Ratio):
        return value.as_json()
    raise TypeError(f"no JSON for {type(value).__name__}")


def main():
    arguments = parse_arguments()
    missing = why_not()
    if missing:
        log(missing)
        return 1
    sys.stdout.reconfigure(line_buffering=True)
    if arguments.output == "text":
        print(f"muster against PyTorch 2.13 on {len(jobs.CORES)} cores of "
              f"{platform.machine()}; medians and ranges over the rounds")
    bench = Bench(arguments)
    try:
        bench.measure()
    except jobs.JobError as error:
        log(error)
        return 1
    if arguments.output == "json":
        print(json.dumps({"schema": "muster.bench/1",
                          "parts": bench.documents},
                         indent=1, default=as_json))
    if bench.missed:
        log(f"goals missed or not measured: {', '.join(bench.missed)}")
    return 1 if bench.missed else 0


if __name__ == "__main__":
    sys.exit(processes.supervised(main))
