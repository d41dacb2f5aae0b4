# SPDX-License-Identifier: Apache-2.0
"""Training jobs of muster and PyTorch: how each is started, and its speed."""
import contextlib
import dataclasses
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

import processes

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("MUSTER_BUILD",
                                    HERE.parent / "build" / "release"))
MUSTER = BUILD / "muster"
TRAIN = BUILD / "train_bench"
DDP = HERE / "peers" / "ddp_train.py"
PYTHON = pathlib.Path(sys.executable)
TORCHRUN = PYTHON.with_name("torchrun")

WORKERS = 2
BATCH = 64  # per worker
CORES = sorted(os.sched_getaffinity(0))
# Seconds for a launcher to end its ranks before both are killed.
END_GRACE = 15
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
              "MKL_NUM_THREADS": "1"}


class JobError(Exception):
    """A job did not do what it was started for."""


def environment(changes):
    """This one without a cluster, one thread everywhere, and these changes."""
    kept = {name: value for name, value in os.environ.items()
            if name not in ("TF_CONFIG", "RANK", "WORLD_SIZE", "LOCAL_RANK",
                            "MASTER_ADDR", "MASTER_PORT")
            and not name.startswith("MUSTER_")}
    return {**kept, **ONE_THREAD, **changes}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclasses.dataclass(frozen=True)
class Point:
    """One line of a trace."""
    pid: int
    step: int
    at: float  # CLOCK_MONOTONIC


def read_trace(path):
    """The whole lines of a trace so far."""
    if not path.exists():
        return []
    lines = path.read_text().split("\n")[:-1]
    return [Point(int(pid), int(step), float(at))
            for pid, step, at in map(str.split, lines)]


def rate(points):
    """Steps per second of the steady part: not the first 30 %, nor the end,
    where a side may already run alone."""
    begin, end = int(len(points) * 0.3), int(len(points) * 0.95) - 1
    if end <= begin:
        raise JobError(f"only {len(points)} points in the trace")
    first, last = points[begin], points[end]
    return (last.step - first.step) / (last.at - first.at)


class Job:
    """One started launcher or program in a folder of its own."""

    def __init__(self, argv, folder, changes):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.log = open(folder / "log", "w+")
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [str(word) for word in argv], cwd=folder, env=environment(changes),
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            start_new_session=True)

    def trace(self, rank=0):
        return read_trace(self.folder / "trace" / f"rank{rank}")

    def finish(self, seconds=180):
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise JobError(f"not finished after {seconds} s\n{self.tail()}")
        if code != 0:
            raise JobError(f"exit status {code}\n{self.tail()}")

    def layout(self):
        """Of the tensors, as the program prints it."""
        found = re.search(r"layout: ([A-Za-z ]+)", self.text())
        if not found:
            raise JobError(f"no layout is printed\n{self.tail()}")
        return found[1].strip()

    def text(self):
        return (self.folder / "log").read_text()

    def tail(self):
        return self.text()[-2000:]

    def end(self):
        """Ends it and its ranks, and all jobs beside it."""
        processes.end_children(END_GRACE)
        self.process.wait()
        self.log.close()


@contextlib.contextmanager
def job(argv, **changes):
    """A Job in a temporary folder; {} in a word stands for the folder."""
    with tempfile.TemporaryDirectory(prefix="muster-bench-") as folder:
        words = [str(word).replace("{}", folder) for word in argv]
        running = Job(words, pathlib.Path(folder), changes)
        try:
            yield running
        finally:
            running.end()


def trainer(model, steps, workers, *more):
    """muster's training program."""
    return [TRAIN, "--model", model, "--steps", steps, "--trace", "{}/trace",
            "--global-batch", BATCH * workers, *more]


def muster(model, steps, *more):
    return [MUSTER, "run", "-n", WORKERS, "--runs-dir", "{}/runs", "--",
            *trainer(model, steps, WORKERS, *more)]


def ddp(model, steps, *more):
    return [DDP, "--model", model, "--steps", steps, "--batch", BATCH,
            "--trace", "{}/trace", *more]


def torchrun(model, steps, *more, flags=()):
    return [TORCHRUN, "--nproc-per-node", WORKERS, "--master-port",
            free_port(), *flags, *ddp(model, steps, *more)]


def on_core(number, argv):
    return ["taskset", "-c", CORES[number], *argv]


@dataclasses.dataclass(frozen=True)
class Speed:
    steps_per_s: float  # of each worker
    layout: str  # of the images between the layers


def speed(jobs):
    """The mean of rank 0 of these finished jobs."""
    return Speed(sum(rate(running.trace()) for running in jobs) / len(jobs),
                 jobs[0].layout())


def measure(argv, **changes):
    with job(argv, **changes) as running:
        running.finish()
        return speed([running])


def measure_alone(model, steps):
    """Two workers at the same time that do not communicate."""
    with contextlib.ExitStack() as stack:
        pair = [stack.enter_context(job(on_core(i, trainer(model, steps, 1))))
                for i in range(WORKERS)]
        for running in pair:
            running.finish()
        return speed(pair)
