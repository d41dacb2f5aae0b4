#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What muster costs as a process: how long until it has ended, or has
printed its first byte. Exits with 1 when a median is above its goal."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import goals
import processes

BUILD = pathlib.Path(os.environ.get(
    "MUSTER_BUILD",
    pathlib.Path(__file__).resolve().parent.parent / "build" / "release"))
MUSTER = BUILD / "muster"
ROUNDS = 31
SLURM = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_PROCID": "1",
         "SLURM_NTASKS": "16", "SLURM_STEP_NUM_TASKS": "16",
         "SLURM_STEP_NODELIST": "tux[01-16]", "SLURM_NODEID": "1",
         "SLURM_LOCALID": "0", "SLURM_STEP_TASKS_PER_NODE": "1(x16)"}


def start(folder, argv, **variables):
    return subprocess.Popen(
        [MUSTER, *argv], cwd=folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "NO_GCE_CHECK": "true", **variables})


def require(good, argv, what):
    if not good:
        sys.exit(f"muster {' '.join(argv)}: {what}")


def whole(folder, argv, **variables):
    """Seconds until it has ended, which it must do well."""
    began = time.monotonic()
    with start(folder, argv, **variables) as process:
        process.stdout.read()
    require(process.returncode == 0, argv, f"exit code {process.returncode}")
    return time.monotonic() - began


def first_output(folder, argv):
    """Seconds until it has printed something; it must end, whatever it finds
    (1, and 3 what it could not find out)."""
    began = time.monotonic()
    with start(folder, argv) as process:
        first = process.stdout.read(1)
        seconds = time.monotonic() - began
        process.stdout.read()
    require(first, argv, "printed nothing")
    require(process.returncode in (0, 1, 3), argv,
            f"exit code {process.returncode}")
    return seconds


def rows(folder):
    """(text, goal in ms, what measures it once)"""
    run = ["run", "-n", "2", "--", "/bin/true"]
    return (
        ("muster --version", 10, lambda: whole(folder, ["--version"])),
        ("muster resolve, 16 hosts of Slurm", 30,
         lambda: whole(folder, ["resolve"], **SLURM)),
        ("muster check, first output", 100,
         lambda: first_output(folder, ["check", "-n", "1"])),
        ("muster run -n 2 -- /bin/true", 50, lambda: whole(folder, run)))


def main():
    with tempfile.TemporaryDirectory(prefix="muster-bench-") as folder:
        ratios = [goals.Ratio(text, tuple(1e3 * once() for _ in range(ROUNDS)),
                              most=goal, unit=" ms")
                  for text, goal, once in rows(folder)]
    if "json" in sys.argv:
        print(json.dumps([one.as_json() for one in ratios]))
    else:
        print("muster as a process, in ms: median and range")
        goals.print_ratios(ratios)
    sys.exit(any(one.met is False for one in ratios))


if __name__ == "__main__":
    sys.exit(processes.supervised(main))
