#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""muster beside PyTorch on this machine: a table of ratios and their goals.

Started by `make bench`, which builds the programs and makes the environment.
Asserts nothing: machines differ, and a ratio below its goal is printed as
such. Everything runs on the loopback interface.
"""
import argparse
import json
import platform
import sys

import lifetime
import sides
import throughput
from goals import Ratio

PARTS = (*throughput.GOALS, *lifetime.MEASURED)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description="muster beside PyTorch DDP, as ratios.")
    parser.add_argument("--quick", action="store_true",
                        help="one round of each instead of five")
    parser.add_argument("--rounds", type=int, help="as many rounds of each")
    parser.add_argument("--only", action="append", choices=PARTS,
                        metavar="NAME", help=", ".join(PARTS))
    parser.add_argument("--output", choices=("text", "json"), default="text")
    return parser.parse_args()


def why_not():
    """What is missing for a measurement; empty when nothing is."""
    if len(sides.CORES) < sides.WORKERS:
        return f"{sides.WORKERS} cores are needed, one per worker"
    for path in (sides.MUSTER, sides.TRAIN, sides.TORCHRUN):
        if not path.exists():
            return f"{path} is missing: start this by `make bench`"
    return ""


def say(text):
    print(text, file=sys.stderr, flush=True)


def measure(parts, rounds):
    return {part: (throughput if part in throughput.GOALS else lifetime)
            .run(part, rounds, say) for part in parts}


def show(documents):
    print(f"muster beside PyTorch 2.13 on {len(sides.CORES)} cores of "
          f"{platform.machine()}; medians and ranges over the rounds")
    for part, document in documents.items():
        (throughput if part in throughput.GOALS else lifetime).show(document)


def as_json(value):
    if isinstance(value, Ratio):
        return value.as_json()
    raise TypeError(f"no JSON for {type(value).__name__}")


def main():
    arguments = parse_arguments()
    missing = why_not()
    if missing:
        say(f"bench: {missing}")
        return 1
    rounds = arguments.rounds or (1 if arguments.quick else 5)
    try:
        documents = measure(arguments.only or PARTS, rounds)
    except sides.Broken as broken:
        say(f"bench: {broken}")
        return 1
    if arguments.output == "json":
        print(json.dumps({"schema": "muster.bench/1", "parts": documents},
                         indent=1, default=as_json))
    else:
        show(documents)
    return 0


if __name__ == "__main__":
    sys.exit(main())
