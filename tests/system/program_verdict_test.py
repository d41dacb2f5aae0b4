#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`muster check program`: verdicts of the real compiler of TPUs.

MUSTER_LIBTPU is the path of libtpu.so (package libtpu of PyPI, 0.0.52); without
it only the fake plug-in is asked, and that is said.
"""
import base64
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["MUSTER_SOURCE"])
sys.path.insert(0, str(SOURCE / "tests" / "support"))
# pylint: disable=wrong-import-position
from muster_test import BUILD, MUSTER, clean_environment  # noqa: E402

LIBTPU = os.environ.get("MUSTER_LIBTPU", "")
PROGRAMS = SOURCE / "tests" / "data" / "programs"
FAKE = BUILD / "muster_fake_pjrt.so"
LOCK = pathlib.Path("/tmp/libtpu_lockfile")

# The step of the example, as it is trained.
STEP = str(SOURCE / "examples" / "pjrt_fashion_mnist" / "conv" / "step.json")

# Program, topology, further flags, verdict, cause.
TABLE = [
    ("dense.mlir", "v2:2x2", "", "pass", ""),
    ("dense.mlir", "v3:2x2", "", "pass", ""),
    ("dense.mlir", "v4:2x2x1", "", "pass", ""),
    ("dense.mlir", "v5e:1x1", "", "pass", ""),
    ("dense.mlir", "v5p:2x2x1", "", "pass", ""),
    ("dense.mlir", "v6e:2x4", "", "pass", ""),
    ("dense.mlir", "tpu7x:2x2x1", "", "pass", ""),
    ("dense.bc", "v5e:2x4", "", "pass", ""),
    ("dense.jax_export", "v5e:2x4", "", "pass", ""),
    ("dense_spmd8.mlir", "v5e:2x4", "", "pass", ""),
    ("dense_spmd8.mlir", "v2:2x2", "", "pass", ""),
    ("dense_spmd8.bc", "v5e:2x4", "", "pass", ""),
    ("dense_spmd8.jax_export", "v5e:2x4", "", "pass", ""),
    ("dense_spmd8.mlir", "v5e:1x1", "", "fail", "rank-world-mismatch"),
    ("dense_spmd8.mlir", "v5e:2x4", "--partitions 4", "fail",
     "rank-world-mismatch"),
    ("all_reduce8.mlir", "v5e:2x4", "", "pass", ""),
    ("all_reduce8.mlir", "v5p:2x2x1", "", "fail", "rank-world-mismatch"),
    ("dense.mlir", "v5e:2x4", "--replicas 16", "fail", "rank-world-mismatch"),
    ("conv.mlir", "v5e:2x4", "", "pass", ""),
    (STEP, "v2:2x2", "--replicas 8", "pass", ""),
    (STEP, "v3:2x2", "--replicas 8", "pass", ""),
    (STEP, "v4:2x2x1", "--replicas 8", "pass", ""),
    (STEP, "v5e:2x4", "--replicas 8", "pass", ""),
    (STEP, "v5p:2x2x1", "--replicas 4", "pass", ""),
    (STEP, "v6e:2x4", "--replicas 8", "pass", ""),
    (STEP, "v5p:2x2x1", "--replicas 8", "fail", "rank-world-mismatch"),
    ("attention.mlir", "v5e:2x4", "", "pass", ""),
    ("embedding.mlir", "v5e:2x4", "", "pass", ""),
    ("scan.mlir", "v5e:2x4", "", "pass", ""),
    ("sin.mlir", "v5e:2x4", "", "pass", ""),
    ("bf16.mlir", "v5e:2x4", "", "pass", ""),
    ("float64.mlir", "v5e:2x4", "", "pass", ""),
    ("fft_c64.mlir", "v5e:2x4", "", "pass", ""),
    ("fft_c128.mlir", "v5e:2x4", "", "fail", "op-unsupported"),
    ("host_callback.mlir", "v5e:2x4", "", "fail", "op-unsupported"),
    ("custom_call.mlir", "v5e:2x4", "", "fail", "op-unsupported"),
    ("unknown_op.mlir", "v5e:2x4", "", "fail", "op-unsupported"),
    ("dynamic.mlir", "v5e:2x4", "", "fail", "op-unsupported"),
    ("wrong_types.mlir", "v5e:2x4", "", "fail", "file-corrupt"),
    ("truncated.mlir", "v5e:2x4", "", "fail", "file-corrupt"),
    ("truncated.bc", "v5e:2x4", "", "fail", "file-corrupt"),
    ("too_large.mlir", "v5e:2x4", "", "fail", "oom-device"),
    ("too_large.mlir", "v5p:2x2x1", "", "pass", ""),
    ("large.mlir", "v6e:1x1", "", "fail", "oom-device"),
    ("large.mlir", "v5p:2x2x1", "", "pass", ""),
]


def command(program, on, plugin, *flags):
    return [MUSTER, "check", "program", str(program), "--on", on, "--plugin",
            str(plugin), "--output", "json", *flags]


def ask(program, on, plugin, *flags, **variables):
    """The answer's document and the exit code."""
    done = subprocess.run(command(program, on, plugin, *flags), check=False,
                          capture_output=True, text=True,
                          env=clean_environment(**variables))
    return json.loads(done.stdout), done.returncode


class WithoutTheCompiler(unittest.TestCase):
    def test_a_plugin_that_hangs_is_no_verdict(self):
        answer, code = ask(PROGRAMS / "sin.mlir", "v5e:2x4", FAKE,
                           "--patience", "300ms", MUSTER_FAKE_PJRT="hang")
        self.assertEqual((answer["verdict"], code), ("broken", 3))
        self.assertEqual(answer["findings"][0]["cause"], "deadline-exceeded")

    def test_an_empty_topology_is_refused(self):
        answer, code = ask(PROGRAMS / "sin.mlir", "", FAKE)
        self.assertEqual((answer["cause"], code), ("usage-invalid", 2))

    def test_a_missing_file_is_refused(self):
        answer, code = ask("/nowhere.mlir", "v5e:2x4", FAKE)
        self.assertEqual((answer["cause"], code), ("file-missing", 2))


class Verdicts(unittest.TestCase):
    def setUp(self):
        if not LIBTPU:
            self.skipTest("MUSTER_LIBTPU names no libtpu.so: pip install "
                          "libtpu, then the path of libtpu/libtpu.so")
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def program(self, name):
        coded = PROGRAMS / f"{name}.b64"
        if not coded.exists():
            return PROGRAMS / name
        plain = self.folder / name
        plain.write_bytes(base64.b64decode(coded.read_bytes()))
        return plain

    def test_are_the_compilers(self):
        def answer_of(row):
            return ask(self.program(row[0]), row[1], LIBTPU, *row[2].split())

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(answer_of, TABLE))
        for row, (answer, code) in zip(TABLE, answers):
            name, on, flags, verdict, cause = row
            with self.subTest(program=name, on=on, flags=flags):
                causes = "".join(one["cause"] for one in answer["findings"])
                self.assertEqual((answer["verdict"], causes),
                                 (verdict, cause), answer["findings"])
                self.assertEqual(code, 0 if verdict == "pass" else 1)
                if verdict == "pass":
                    self.holds_what_the_compiler_says(answer)

    def holds_what_the_compiler_says(self, answer):
        """Arguments and outputs, tile by tile, are the compiler's sum."""
        memory = answer["answer"]["compiled"]["memory"]
        said = memory["arguments"] + memory["outputs"]
        held = answer["largest"]["arguments_and_outputs"]["bytes"]
        # Several outputs have a table of their places beside them.
        self.assertIn(said - held, range(0, 1025), answer["largest"])

    def test_say_where_the_operation_stands(self):
        answer, _ = ask(self.program("unknown_op.mlir"), "v5e:2x4", LIBTPU)
        self.assertIn("line 3 column 10: `stablehlo.nonsense`",
                      answer["findings"][0]["what"])

    def test_say_by_how_much_and_where_it_would_fit(self):
        answer, _ = ask(self.program("large.mlir"), "v5e:2x4", LIBTPU)
        self.assertIn("29.0 GiB too much", answer["findings"][0]["what"])
        fits = {one["on"].split(":")[0]: one["fits"]
                for one in answer["elsewhere"]}
        self.assertEqual(fits, {"v2": False, "v3": False, "v4": False,
                                "v6e": False, "v5p": True, "tpu7x": True})

    def test_name_the_largest_arrays(self):
        answer, _ = ask(self.program("dense_spmd8.jax_export"), "v5e:2x4",
                        LIBTPU)
        arrays = answer["largest"]["arrays"]
        self.assertEqual(
            [(one["role"], one["shape"], one["name"], one["bytes"])
             for one in arrays[:3]],
            [("argument", "f32[784,512]", "p[0]", 784 * 512 * 4),
             ("output", "f32[784,512]", "output 0", 784 * 512 * 4),
             ("argument", "f32[32,784]", "x", 32 * 896 * 4)])  # its part of 256

    def test_name_them_where_it_fits_when_it_does_not_here(self):
        answer, _ = ask(self.program("too_large.mlir"), "v5e:2x4", LIBTPU)
        largest = answer["largest"]
        self.assertIn(largest["on"].split(":")[0], ("v5p", "tpu7x"))
        self.assertEqual((largest["arrays"][0]["shape"],
                          largest["arrays"][0]["count"]),
                         ("f32[60000,60000]", 2))

    def test_give_memory_and_cost(self):
        answer, _ = ask(self.program("dense_spmd8.mlir"), "v5e:2x4", LIBTPU)
        self.assertEqual(answer["answer"]["memory_per_device"], 16909332480)
        compiled = answer["answer"]["compiled"]
        self.assertEqual((compiled["replicas"], compiled["partitions"]),
                         (1, 8))
        self.assertGreater(compiled["memory"]["arguments"], 784 * 512 * 4)
        self.assertGreater(compiled["cost"]["flops"], 0)

    def test_need_no_lock_eight_at_once(self):
        run = command(self.program("sin.mlir"), "v5e:2x4", LIBTPU)
        started = [subprocess.Popen(run, stdout=subprocess.PIPE,
                                    env=clean_environment())
                   for _ in range(8)]
        locked = set()
        while running := [one for one in started if one.poll() is None]:
            inodes = {line.split()[5].rpartition(":")[2] for line in
                      pathlib.Path("/proc/locks").read_text().splitlines()}
            if LOCK.exists() and str(LOCK.stat().st_ino) in inodes:
                locked.add(str(LOCK))
            try:
                running[0].wait(0.01)
            except subprocess.TimeoutExpired:
                continue
        verdicts = [json.loads(one.stdout.read())["verdict"]
                    for one in started]
        for one in started:
            one.stdout.close()
        self.assertEqual(verdicts, ["pass"] * 8)
        self.assertEqual(locked, set())


if __name__ == "__main__":
    unittest.main(verbosity=2)  # says why a test is skipped
