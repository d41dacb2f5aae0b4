#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time of a step: PjrtStrategy on PyPI's CPU plug-in beside JAX on its own.

    MUSTER_PJRT_CPU=…/xla_cpu_pjrt.so MUSTER_INTEROP_PYTHON=… \\
        bench/pjrt_steps.py [--model dense|conv] [--rounds N]

One device, the same exported program, its state donated, the loss on the host
after each step, a batch given from host memory each time; rounds alternate.
The two are different releases of XLA: there is no other plug-in for CPUs, and
JAX cannot be told to use this one. Asserts nothing.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import processes

SOURCE = pathlib.Path(__file__).resolve().parent.parent
BUILD = SOURCE / "build" / "release"
EXPORT = SOURCE / "examples" / "export" / "fashion_mnist.py"

BY_JAX = """
import runpy, statistics, sys, time
model, samples, steps, export = sys.argv[1:5]
sys.argv = [export, "--model", model, "--out", "/none"]
names = runpy.run_path(export, run_name="exported")
import jax, numpy
state = jax.jit(names["initialize"])(jax.numpy.int32(1))
run = jax.jit(names["step"], donate_argnums=tuple(range(len(state))))
images = numpy.zeros((int(samples), 1, 28, 28), numpy.float32)
labels = numpy.zeros((int(samples),), numpy.int32)
micros = []
for i in range(20 + int(steps)):
    began = time.perf_counter()
    *state, loss = run(*state, images, labels)
    float(loss)
    micros.append((time.perf_counter() - began) * 1e6)
print(statistics.median(micros[20:]))
"""


def seconds_of(argv):
    done = subprocess.run(argv, stdout=subprocess.PIPE, check=True, text=True,
                          stderr=subprocess.DEVNULL,
                          env={**os.environ, "JAX_PLATFORMS": "cpu"})
    return float(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=["dense", "conv"], default="dense")
    parser.add_argument("--local-batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    python = os.environ["MUSTER_INTEROP_PYTHON"]
    bench = BUILD / "pjrt_bench"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, EXPORT, "--model", arguments.model,
                        "--local-batch", str(arguments.local_batch), "--out",
                        folder], check=True)
        step = pathlib.Path(folder, "step.json")
        ours, theirs = [], []
        for _ in range(arguments.rounds):
            ours.append(seconds_of([bench, os.environ["MUSTER_PJRT_CPU"], step,
                                    "1", str(arguments.steps)]))
            theirs.append(seconds_of(
                [python, "-c", BY_JAX, arguments.model,
                 str(arguments.local_batch), str(arguments.steps), EXPORT]))
        host = statistics.median(
            seconds_of([bench, BUILD / "muster_fake_pjrt.so", step, "1",
                        "2000"]) for _ in range(3))
    ratios = [b / a for a, b in zip(ours, theirs)]
    print(f"{arguments.model}, batch {arguments.local_batch}: PjrtStrategy "
          f"{statistics.median(ours):.0f} us a step, JAX "
          f"{statistics.median(theirs):.0f} us; steps per second "
          f"{statistics.median(ratios):.2f} x JAX ({min(ratios):.2f} to "
          f"{max(ratios):.2f}; goal 0.95)")
    print(f"host alone (a plug-in that does nothing): {host:.1f} us a step "
          f"(goal 50)")


if __name__ == "__main__":
    sys.exit(processes.supervised(main))
