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
    ("adam_bf16.mlir", "v5e:2x4", "", "pass", ""),
    ("donated.mlir", "v5e:2x4", "", "pass", ""),
    ("transformer.mlir", "v5e:2x4", "", "pass", ""),
    ("transformer.mlir", "tpu7x:1x1x1", "", "pass", ""),
    ("residual.mlir", "v4:2x2x1", "", "pass", ""),
    ("recurrent.mlir", "v5e:2x4", "", "pass", ""),
    ("embedding_grad.mlir", "v3:2x2", "", "pass", ""),
    ("conv3d.mlir", "v5e:2x4", "", "pass", ""),
    ("depthwise.mlir", "v5e:2x4", "", "pass", ""),
    ("padded.mlir", "v5e:2x4", "", "pass", ""),
    ("top_k.mlir", "v5e:2x4", "", "pass", ""),
    ("sort.mlir", "v5e:2x4", "", "pass", ""),
    ("random.mlir", "v5e:2x4", "", "pass", ""),
    ("while.mlir", "v5e:2x4", "", "pass", ""),
    ("cond.mlir", "v5e:2x4", "", "pass", ""),
    ("triangular.mlir", "v5e:2x4", "", "pass", ""),
    ("cholesky.mlir", "v5e:2x4", "", "pass", ""),
    ("cholesky_cpu.mlir", "v5e:2x4", "", "fail", "op-unsupported"),
    ("debug_callback.mlir", "v5e:2x4", "", "fail", "op-unsupported"),
    ("int8.mlir", "v5e:2x4", "", "pass", ""),
    ("int4.mlir", "v6e:1x1", "", "pass", ""),
    ("float8.mlir", "v5e:2x4", "", "pass", ""),
    ("complex64.mlir", "v5e:2x4", "", "pass", ""),
    ("iota.mlir", "v5e:2x4", "", "pass", ""),
    ("rank0.mlir", "v5e:2x4", "", "pass", ""),
    ("identity.mlir", "v5e:2x4", "", "pass", ""),
    ("identity.mlir", "v5e:2x4", "--replicas 9", "fail",
     "rank-world-mismatch"),
    ("no_arguments.mlir", "v5e:2x4", "", "pass", ""),
    ("no_main.mlir", "v5e:2x4", "", "fail", "file-corrupt"),
    ("huge_constant.mlir", "v5e:2x4", "", "pass", ""),  # folded to one element
    ("huge_splat.mlir", "v5e:2x4", "", "pass", ""),
    ("huge_output.mlir", "v5e:2x4", "", "fail", "oom-device"),
    ("below_1_percent.mlir", "v5e:2x4", "", "pass", ""),
    ("below_1_percent.mlir", "v3:2x2", "", "fail", "oom-device"),
    ("above_1_percent.mlir", "v5e:2x4", "", "fail", "oom-device"),
    ("above_1_percent.mlir", "v6e:1x1", "", "pass", ""),
    ("above_10_times.mlir", "v5e:2x4", "", "fail", "oom-device"),
    ("psum_4x2.mlir", "v5e:2x4", "", "pass", ""),
    ("psum_4x2.mlir", "v2:2x2", "", "pass", ""),
    ("psum_4x2.mlir", "v5p:2x2x1", "", "fail", "rank-world-mismatch"),
    ("psum_4x2.mlir", "v5e:2x4", "--replicas 2", "fail",
     "rank-world-mismatch"),
    ("all_to_all.mlir", "v5e:2x4", "", "pass", ""),
    ("permute.mlir", "v5e:2x4", "", "pass", ""),
    ("all_gather.mlir", "v5e:2x4", "", "pass", ""),
]


def command(program, on, plugin, *flags):
    return [MUSTER, "check", "program", str(program), "--on", on, "--plugin",
            str(plugin), "--output", "json", *flags]


def ask_several(programs, plugins, *flags, **variables):
    told = [word for one in plugins for word in ("--plugin", str(one))]
    done = subprocess.run(
        [MUSTER, "check", "program", *map(str, programs), "--on", "v5e:2x4",
         "--output", "json", *told, *flags], check=False, capture_output=True,
        text=True, env=clean_environment(**variables))
    return json.loads(done.stdout), done.returncode


def ask(program, on, plugin, *flags, **variables):
    """The answer's document and the exit code."""
    done = subprocess.run(command(program, on, plugin, *flags), check=False,
                          capture_output=True, text=True,
                          env=clean_environment(**variables))
    return json.loads(done.stdout), done.returncode


def measured(program, *flags):
    """As ask with the fake, and the most memory that it had, children too."""
    with subprocess.Popen(command(program, "v5e:2x4", FAKE, *flags),
                          stdout=subprocess.PIPE, text=True,
                          env=clean_environment()) as run:
        answer = json.loads(run.stdout.read())
        _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
    return answer, run.returncode, used.ru_maxrss * 1024


# Texts that are small or of one line, and large in what a reader makes of them.
BOMBS = {
    "depth": "module @m { func.func @main(%a: tensor<8xf32> {x = "
             + "[" * 200_000,
    "arguments": "module @m { func.func @main("
                 + "%a: tensor<8xf32>, " * 50_000 + ") { } }",
    "sides": "module @m { func.func @main(%a: tensor<" + "8x" * 200_000
             + "f32>) { } }",
    "numbers": "module @m attributes {mhlo.num_partitions = "
               + "9" * 400_000 + " : i32} { func.func @main() { } }",
    "quotes": 'module @m { func.func @main(%a: tensor<8xf32> {x = "'
              + "\\" * 400_000,
}


class WithoutTheCompiler(unittest.TestCase):
    def test_a_plugin_that_hangs_is_no_verdict(self):
        answer, code = ask(PROGRAMS / "sin.mlir", "v5e:2x4", FAKE,
                           "--timeout", "300ms", MUSTER_FAKE_PJRT="hang")
        self.assertEqual((answer["verdict"], code), ("broken", 3))
        self.assertEqual(answer["findings"][0]["cause"], "deadline-exceeded")

    def test_an_empty_topology_is_refused(self):
        answer, code = ask(PROGRAMS / "sin.mlir", "", FAKE)
        self.assertEqual((answer["cause"], code), ("usage-invalid", 2))

    def test_several_programs_and_compilers_are_not_compared_at_once(self):
        sin = PROGRAMS / "sin.mlir"
        answer, code = ask_several([sin, sin], [FAKE, FAKE])
        self.assertEqual((answer["cause"], code), ("usage-invalid", 2))

    def test_one_of_two_compilers_that_hangs_is_no_verdict(self):
        answer, code = ask_several(
            [PROGRAMS / "sin.mlir"], [FAKE, FAKE], "--timeout", "300ms",
            MUSTER_FAKE_PJRT="hang")
        self.assertEqual((answer["verdict"], code), ("broken", 3))

    def test_the_largest_of_several_is_named(self):
        files = [PROGRAMS / f"batch{size}.mlir" for size in (16, 40, 28)]
        answer, code = ask_several(files, [FAKE])
        self.assertEqual((answer["verdict"], code), ("pass", 0))
        self.assertEqual(answer["largest_that_fits"]["file"],
                         str(files[1]))
        self.assertIn("batch 40", answer["detail"])

    def test_none_of_several_fits(self):
        files = [PROGRAMS / f"batch{size}.mlir" for size in (16, 28)]
        answer, code = ask_several(files, [FAKE], MUSTER_FAKE_PJRT="oom")
        self.assertEqual((answer["verdict"], code), ("fail", 1))
        self.assertEqual([one["cause"] for one in answer["findings"]],
                         ["oom-device"] * 2)
        self.assertNotIn("largest_that_fits", answer)

    def test_a_text_that_is_a_bomb_takes_little_memory(self):
        for name, text in BOMBS.items():
            with self.subTest(bomb=name), \
                    tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "bomb.mlir"
                file.write_text(text)
                answer, code, memory = measured(file)
                self.assertIn(code, (0, 1), answer)  # the fake takes all
                self.assertLess(memory, 512 << 20)

    def test_a_file_of_2_gib_is_refused_before_it_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "large.mlir"
            with file.open("wb") as sparse:
                sparse.truncate(2 << 30)
            answer, code, memory = measured(file)
        self.assertEqual((answer["verdict"], code), ("fail", 1))
        self.assertEqual(answer["findings"][0]["cause"], "file-corrupt")
        self.assertLess(memory, 2 << 30)  # a sanitizer takes most of it

    def test_a_beginning_of_bytecode_or_of_an_artefact_is_corrupt(self):
        # Of bytecode only the compiler sees more than its four first bytes.
        sizes = {"dense.bc": (0, 1, 3),
                 "dense.jax_export": (0, 1, 4, 7, 40, 300, 2452),
                 "symbolic.jax_export": (0, 1, 4, 7, 40, 300, 3522)}
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "cut"
            for name, size in ((name, size) for name, those in sizes.items()
                               for size in those):
                whole = base64.b64decode(
                    (PROGRAMS / f"{name}.b64").read_bytes())
                file.write_bytes(whole[:size])
                with self.subTest(program=name, size=size):
                    answer, code = ask(file, "v5e:2x4", FAKE)
                    self.assertEqual(
                        (answer["findings"][0]["cause"], code),
                        ("file-corrupt", 1), answer)

    def test_a_symbol_wants_a_size_and_a_python_with_jax(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "symbolic"
            file.write_bytes(base64.b64decode(
                (PROGRAMS / "symbolic.jax_export.b64").read_bytes()))
            answer, code = ask(file, "v5e:2x4", FAKE)
            self.assertEqual((answer["cause"], code), ("usage-invalid", 2))
            answer, code = ask(file, "v5e:2x4", FAKE, "--batch", "64",
                               VIRTUAL_ENV=folder, CONDA_PREFIX="")
        self.assertEqual((answer["verdict"], code), ("skip", 3))
        self.assertIn("pip install jax", answer["detail"])

    def test_a_file_of_another_framework_is_refused(self):
        graph = SOURCE / "tests" / "data" / "graphs" / "sin.pb"
        for program, framework, code in (
                (graph, "tf", 0), (graph, "jax", 2), (graph, "torch", 2),
                (PROGRAMS / "sin.mlir", "torch", 0)):
            with self.subTest(program=program.name, framework=framework):
                answer, ended = ask(program, "v5e:2x4", FAKE, "--framework",
                                    framework)
                self.assertEqual(ended, code, answer)

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

    def test_end_with_a_cause_on_texts_that_are_bombs(self):
        for name, text in BOMBS.items():
            with self.subTest(bomb=name):
                file = self.folder / f"{name}.mlir"
                file.write_text(text)
                # What the compiler makes of it is the compiler's matter; that
                # it is ended, and said, is ours.
                answer, code = ask(file, "v5e:2x4", LIBTPU, "--timeout",
                                   "10s")
                self.assertIn((answer["verdict"], code),
                              (("fail", 1), ("broken", 3)))
                self.assertNotEqual(answer["findings"][0]["cause"],
                                    "internal-error")

    def test_are_none_where_the_compiler_makes_no_such_topology(self):
        answer, code = ask(self.program("sin.mlir"), "v5e:3x5", LIBTPU)
        self.assertEqual((answer["cause"], code), ("usage-invalid", 2))
        self.assertIn("not divisible", answer["what"])

    def test_say_where_the_operation_stands(self):
        answer, _ = ask(self.program("unknown_op.mlir"), "v5e:2x4", LIBTPU)
        self.assertIn("line 3 column 10: `stablehlo.nonsense`",
                      answer["findings"][0]["what"])

    def test_say_what_to_write_instead_where_it_is_known(self):
        for name, instead in (("host_callback.mlir", "between steps"),
                              ("cholesky_cpu.mlir", 'platforms=["tpu"]'),
                              ("fft_c128.mlir", "complex64"),
                              ("dynamic.mlir", "--batch")):
            with self.subTest(program=name):
                answer, _ = ask(self.program(name), "v5e:2x4", LIBTPU)
                self.assertIn(instead,
                              answer["findings"][0]["fixes"][0]["text"])

    def test_say_where_in_the_source_where_the_program_carries_it(self):
        text = self.program("custom_call.mlir").read_text()
        at = text.index("my_missing_op")
        line = text.index("\n", at)
        traced = self.folder / "traced.mlir"
        traced.write_text(
            text[:line] + ' loc("loss"("/home/me/step.py":7:8))' + text[line:])
        answer, _ = ask(traced, "v5e:2x4", LIBTPU)
        self.assertIn("made from `/home/me/step.py` line 7 column 8: "
                      "`my_missing_op`", answer["findings"][0]["what"])

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

    def test_tell_padding_where_it_costs(self):
        answer, _ = ask(self.program("padded.mlir"), "v5e:2x4", LIBTPU)
        held = answer["largest"]["arguments_and_outputs"]
        # Rows of 160 lie in room for 256.
        self.assertEqual(held["padding"] * 256 // held["bytes"], 96)
        text = subprocess.run(
            [MUSTER, "check", "program", str(self.program("padded.mlir")),
             "--on", "v5e:2x4", "--plugin", LIBTPU], check=False,
            capture_output=True, text=True, env=clean_environment()).stdout
        # Inside, 60 images lie in room for 128.
        self.assertIn("f32[60,160,160,32] 400.0 MiB, 53 % padding", text)
        self.assertIn("\npadding         ", text)

    def test_say_what_only_one_of_two_compilers_takes(self):
        sin = self.program("sin.mlir")
        answer, code = ask_several([sin], [LIBTPU, FAKE],
                                   MUSTER_FAKE_PJRT="escapes")
        self.assertEqual((answer["verdict"], code), ("fail", 1))
        self.assertEqual(answer["detail"], "it compiles with 1 of 2 compilers")
        self.assertEqual([one["verdict"] for one in answer["programs"]],
                         ["pass", "fail"])
        what = answer["findings"][0]["what"]
        self.assertTrue(what.startswith(f"`{FAKE}` (PJRT 0.81, StableHLO "
                                        f"1.2.3) rejects what `{LIBTPU}` ("),
                        what)

    def test_agree_where_both_compilers_take_it(self):
        answer, code = ask_several([self.program("sin.mlir")], [LIBTPU, FAKE])
        self.assertEqual((answer["verdict"], code), ("pass", 0))

    def test_name_the_largest_batch_that_fits(self):
        files = [self.program(f"batch{size}.mlir") for size in (16, 28, 40)]
        answer, code = ask_several(files, [LIBTPU])
        self.assertEqual((answer["verdict"], code), ("pass", 0))
        self.assertEqual(answer["largest_that_fits"]["file"],
                         str(files[1]))
        self.assertEqual([one["verdict"] for one in answer["programs"]],
                         ["pass", "pass", "fail"])
        self.assertIn("batch 28", answer["detail"])

    def test_put_a_size_in_for_a_symbol(self):
        python = os.environ.get("MUSTER_INTEROP_PYTHON", "")
        if not python:
            self.skipTest("MUSTER_INTEROP_PYTHON names no Python with jax")
        answer, code = ask_several(
            [self.program("symbolic.jax_export")], [LIBTPU], "--batch",
            "64,128", VIRTUAL_ENV=str(pathlib.Path(python).parents[1]))
        self.assertEqual((answer["verdict"], code), ("pass", 0))
        self.assertEqual(answer["largest_that_fits"]["value"], 128)

    def test_give_memory_and_cost(self):
        answer, _ = ask(self.program("dense_spmd8.mlir"), "v5e:2x4", LIBTPU)
        self.assertEqual(answer["answer"]["memory_per_device"], 16909332480)
        compiled = answer["answer"]["compiled"]
        self.assertEqual((compiled["replicas"], compiled["partitions"]),
                         (1, 8))
        self.assertGreater(compiled["memory"]["arguments"], 784 * 512 * 4)
        self.assertGreater(compiled["cost"]["flops"], 0)

    def test_tell_the_fastest_run_and_what_it_eats(self):
        answer, _ = ask(self.program("dense_spmd8.mlir"), "v5e:2x4", LIBTPU,
                        "--examples", "256")
        fastest, cost = answer["fastest"], answer["answer"]["compiled"]["cost"]
        # The figures of a v5e: 197 Tflop/s and 820 GB/s.
        self.assertAlmostEqual(fastest["by_flops"] * 197e12 / cost["flops"], 1)
        self.assertAlmostEqual(fastest["by_bytes"] * 820e9 / cost["bytes"], 1)
        self.assertEqual(fastest["seconds"], fastest["by_bytes"])
        self.assertAlmostEqual(
            fastest["examples_per_second"] * fastest["seconds"], 256)

    def test_know_the_examples_of_a_step(self):
        answer, _ = ask(STEP, "v5e:2x4", LIBTPU, "--replicas", "8")
        self.assertEqual(answer["fastest"]["examples"],
                         {"value": 16 * 8, "source": "the program"})

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
