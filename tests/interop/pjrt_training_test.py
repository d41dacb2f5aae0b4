#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training over PJRT: several devices, the exported steps, JAX's own losses.

MUSTER_PJRT_CPU is the path of xla_cpu_pjrt.so (package xla-cpu-pjrt of PyPI);
MUSTER_INTEROP_PYTHON a Python with jax.
"""
import filecmp
import os
import pathlib
import signal
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["MUSTER_SOURCE"])
sys.path.insert(0, str(SOURCE / "tests" / "support"))
from muster_test import BUILD, MusterTest, wait_until  # noqa: E402

PLUGIN = os.environ.get("MUSTER_PJRT_CPU", "")
PYTHON = os.environ.get("MUSTER_INTEROP_PYTHON", "")
TRAIN = BUILD / "pjrt_fashion_mnist"
EXPORTED = SOURCE / "examples" / "pjrt_fashion_mnist"
EXPORT = SOURCE / "examples" / "export" / "fashion_mnist.py"
DATA = "/usr/share/datasets/fashion-mnist"

# The step of examples/export, run by JAX on one device over the same batches.
BY_JAX = """
import gzip, runpy, sys
model, samples, steps, learned, export = sys.argv[1:6]
sys.argv = [export, "--model", model, "--out", "/none"]
step = runpy.run_path(export, run_name="exported")
import jax, numpy
def read(name, head):
    return numpy.frombuffer(gzip.open(f"{learned}/{name}").read(), numpy.uint8,
                            offset=head)
images = read("train-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28)
labels = read("train-labels-idx1-ubyte.gz", 8).astype(numpy.int32)
state = jax.jit(step["initialize"])(jax.numpy.int32(7))
run = jax.jit(step["step"])
for i in range(int(steps)):
    of = slice(i * int(samples), (i + 1) * int(samples))
    *state, loss = run(*state, images[of].astype(numpy.float32) / 255,
                       labels[of])
    print("%.9g" % loss)
"""

# A step of a user who reduces over the wrong groups of devices.
WRONG_GROUPS = """
import runpy, sys
export, out = sys.argv[1:3]
sys.argv = [export, "--model", "dense", "--form", "spmd", "--devices", "4",
            "--out", out]
names = runpy.run_path(export, run_name="exported")
import jax
from jax.sharding import PartitionSpec as P
mesh = jax.sharding.Mesh(jax.devices(), ("data",))
count = len(names["NAMES"])
def local(*flat):
    loss, *gradients = names["gradient"](*flat[:count], *flat[-2:])
    mean = lambda x: jax.lax.psum(
        x, "data", axis_index_groups=[[0, 1], [2, 3]]) / 2
    return (*names["update"](*flat[:-2], *map(mean, gradients)), mean(loss))
state = 3 * count + 1
step = jax.shard_map(local, mesh=mesh, check_vma=False,
                     in_specs=(P(),) * state + (P("data"),) * 2,
                     out_specs=(P(),) * (state + 1))
names["main"].__globals__["step"] = step
names["main"]()
"""


@unittest.skipUnless(PLUGIN, "MUSTER_PJRT_CPU is not set: no plug-in for CPUs")
class Training(MusterTest):
    def train(self, model, *flags, name="run", muster=()):
        step = model if isinstance(model, pathlib.Path) else EXPORTED / model
        return self.start(
            "run", "-n", "1", *muster, "--", TRAIN, "--plugin", PLUGIN,
            "--step", step / "step.json", *flags, folder=self.folder / name)

    def python(self, script, *arguments):
        if not PYTHON:
            self.skipTest("MUSTER_INTEROP_PYTHON is not set: no jax")
        done = subprocess.run(
            [PYTHON, "-c", script, *map(str, arguments)], text=True,
            capture_output=True, timeout=300, check=False,
            env={**os.environ, "JAX_PLATFORMS": "cpu"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def losses(self, model, devices):
        path = self.folder / "losses"
        done = self.train(model, "--devices", devices, "--shuffle", "0",
                          "--seed", "7", "--losses", path, "--steps",
                          200).wait()
        self.assertEqual(done.code, 0, done.err)
        return [float(line) for line in path.read_text().splitlines()]

    def test_learns_on_any_number_of_devices(self):
        for devices in (2, 8):
            with self.subTest(devices=devices):
                done = self.train("conv", "--devices", devices, "--epochs", 2,
                                  name=f"on{devices}").wait(300)
                self.assertEqual(done.code, 0, done.err)
                line = done.out.splitlines()[-1].split()
                self.assertEqual(line[:2], ["test", "accuracy"])
                self.assertGreaterEqual(float(line[2]), 0.86)
                self.assertEqual(line[-2:], [str(devices), "replicas"])
                self.assertEqual(done.report["training"]["step"],
                                 2 * (60_000 // (16 * devices)))

    def test_has_the_losses_that_jax_has(self):
        for model in ("dense", "conv"):
            with self.subTest(model=model):
                ours = self.losses(model, 4)
                theirs = [float(line) for line in self.python(
                    BY_JAX, model, 64, 200, DATA, EXPORT).split()]
                self.assertEqual(len(theirs), 200)
                for step, (a, b) in enumerate(zip(ours, theirs)):
                    self.assertAlmostEqual(a, b, delta=1e-4, msg=f"{step}")

    def test_runs_a_step_that_was_partitioned_by_who_exported_it(self):
        out = self.folder / "spmd"
        self.python(f"import runpy, sys; sys.argv = sys.argv[1:]; "
                    f"runpy.run_path(sys.argv[0], run_name='__main__')",
                    EXPORT, "--model", "dense", "--form", "spmd", "--devices",
                    4, "--out", out)
        for a, b in zip(self.losses(out, 4),
                        self.losses("dense", 4)):
            self.assertAlmostEqual(a, b, delta=1e-4)

    def test_a_reduction_over_the_wrong_devices_is_found(self):
        out = self.folder / "wrong"
        self.python(WRONG_GROUPS, EXPORT, out)
        done = self.train(out, "--devices", "4", "--steps", 10).wait()
        self.assertEqual(done.code, 1, done.err)
        finding = self.assert_finding(done, "replica-divergence")
        self.assertIn("hidden.weight", str(finding))
        self.assertIn("replica 2 differs", str(finding))

    def test_a_killed_process_goes_on_from_its_checkpoint(self):
        flags = ("--devices", "2", "--epochs", "1", "--every", "100")

        def run(name):
            return self.train("conv", *flags, "--checkpoints",
                              self.folder / name / "checkpoints", name=name)

        calm = run("calm").wait()
        self.assertEqual(calm.code, 0, calm.err)
        killed = run("killed")
        wait_until(lambda: list((self.folder / "killed" / "checkpoints")
                                .glob("step-" + "?" * 10 + "/manifest.json")), 60,
                   "a first checkpoint")
        os.kill(killed.pid_of(0), signal.SIGKILL)
        done = killed.wait()
        self.assertEqual(done.code, 0, done.err)
        self.assertIn("continuing after step", done.out)
        last = "checkpoints/step-0000001875/model.safetensors"
        self.assertTrue(filecmp.cmp(self.folder / "calm" / last,
                                    self.folder / "killed" / last, False))

    def test_goes_on_from_its_sample_with_another_number_of_devices(self):
        flags = ("--epochs", "1", "--checkpoints", self.folder / "checkpoints")
        done = self.train("dense", *flags, "--devices", "2", "--steps", 101,
                          name="on2").wait()
        self.assertEqual(done.code, 0, done.err)
        done = self.train("dense", *flags, "--devices", "4", name="on4").wait()
        self.assertEqual(done.code, 0, done.err)
        self.assertIn("continuing after step 101", done.out)
        self.assertEqual(done.report["training"]["step"],
                         101 + (60_000 - 101 * 2 * 16) // (4 * 16))

    def test_one_process_drives_all_devices(self):
        done = self.start("run", "-n", "2", "--", TRAIN, "--plugin", PLUGIN,
                          "--step", EXPORTED / "dense" / "step.json").wait()
        self.assertEqual(done.code, 1, done.err)
        self.assert_finding(done, "usage-invalid")


if __name__ == "__main__":
    unittest.main(verbosity=2)  # says why a test is skipped
