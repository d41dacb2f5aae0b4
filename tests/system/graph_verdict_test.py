#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`muster check program` of TensorFlow's graphs, which were made by
tests/data/graphs/make_graphs.py. No TensorFlow is needed.

tests/interop/graph_compiler_test.py asks TensorFlow's own compiler the same.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["MUSTER_SOURCE"])
sys.path.insert(0, str(SOURCE / "tests" / "support"))
# pylint: disable=wrong-import-position
from graph_table import TABLE  # noqa: E402
from muster_test import MUSTER, clean_environment  # noqa: E402

GRAPHS = SOURCE / "tests" / "data" / "graphs"
EXIT = {"pass": 0, "warn": 0, "fail": 1}
# A sanitizer takes terabytes of addresses.
SANITIZED = any(mark in pathlib.Path(MUSTER).read_bytes()
                for mark in (b"__asan_init", b"__tsan_init"))
MEMORY = 0 if SANITIZED else 4 << 30


def ask(path, *flags, prefix=()):
    """The answer's document and the exit code."""
    done = subprocess.run(
        [*prefix, MUSTER, "check", "program", str(path), "--on", "v5e:2x4",
         "--output", "json", *flags], check=False, capture_output=True,
        text=True, env=clean_environment(), timeout=240)
    return json.loads(done.stdout), done.returncode


def file_of(name):
    for candidate in (f"{name}.pb", name):
        if (GRAPHS / candidate).exists():
            return GRAPHS / candidate
    raise FileNotFoundError(name)


class Verdicts(unittest.TestCase):
    maxDiff = None

    def test_are_those_of_the_table(self):
        for name, row in TABLE.items():
            with self.subTest(graph=name):
                answer, code = ask(file_of(name), *row.flags)
                causes = [one["cause"] for one in answer["findings"]]
                self.assertEqual((answer["verdict"], sorted(set(causes))),
                                 (row.verdict, sorted(row.causes)),
                                 answer["findings"])
                self.assertEqual(code, EXIT[row.verdict])
                told = json.dumps([answer["findings"], answer["graph"]],
                                  ensure_ascii=False)
                for words in row.says:
                    self.assertIn(words, told)

    def test_hold_for_every_graph_that_is_kept(self):
        kept = {path.name.removesuffix(".pb") for path in GRAPHS.iterdir()
                if path.suffix != ".py" and path.name != "__pycache__"}
        self.assertEqual(kept, {name.partition("@")[0] for name in TABLE})

    def test_a_signature_is_judged_alone(self):
        answer, code = ask(GRAPHS / "model", "--signature", "fit")
        self.assertEqual((answer["verdict"], code), ("pass", 0))
        self.assertEqual([one["name"] for one in answer["graph"]["judged"]],
                         ["signature `fit`"])
        answer, code = ask(GRAPHS / "model", "--signature", "files")
        self.assertEqual((answer["verdict"], code), ("fail", 1))
        answer, code = ask(GRAPHS / "unsigned", "--signature", "good")
        self.assertEqual((answer["verdict"], code), ("pass", 0))
        answer, code = ask(GRAPHS / "model", "--signature", "fitt")
        self.assertEqual((answer["cause"], code), ("usage-invalid", 2))

    def test_name_node_and_functions(self):
        answer, _ = ask(GRAPHS / "callback_deep.pb")
        self.assertRegex(
            answer["findings"][0]["evidence"][0]["what"],
            r"^`EagerPyFunc`, node `EagerPyFunc` of `__inference_innermost_\d+`"
            r", called by `\w+` of `__inference_middle_\d+`, called by `\w+` "
            r"of the graph$")

    def test_of_text_are_those_of_bytes(self):
        for name in ("sin", "callback_in_loop"):
            binary, _ = ask(GRAPHS / f"{name}.pb")
            text, _ = ask(GRAPHS / f"{name}.pbtxt")
            for answer in (binary, text):
                answer.pop("file")
                answer["graph"].pop("form")
                for finding in answer["findings"]:
                    finding.pop("subjects")
                    for one in finding["evidence"]:
                        one.pop("at")
            self.assertEqual(binary, text)


class BadInput(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def assert_corrupt(self, path):
        answer, code = ask(path, prefix=["prlimit", f"--as={MEMORY}"]
                           if MEMORY else ())
        self.assertEqual((answer["verdict"], code), ("fail", 1), answer)
        self.assertEqual(answer["findings"][0]["cause"], "file-corrupt")

    def test_that_is_cut_short_has_a_cause(self):
        whole = (GRAPHS / "model" / "saved_model.pb").read_bytes()
        model = self.folder / "model"
        model.mkdir()
        for part in (0, 1, 2, 3, 100, len(whole) // 2, len(whole) - 1):
            with self.subTest(bytes=part):
                (model / "saved_model.pb").write_bytes(whole[:part])
                self.assert_corrupt(model)

    def test_that_is_no_saved_model_is_refused(self):
        answer, code = ask(self.folder)
        self.assertEqual((answer["cause"], code), ("usage-invalid", 2))

    def test_of_two_gibibytes_is_refused_in_bounds(self):
        path = self.folder / "huge.pb"
        with open(path, "wb") as out:
            out.write((GRAPHS / "sin.pb").read_bytes())
            out.truncate(2 << 30)
        self.assert_corrupt(path)

    def test_of_many_nodes_or_brackets_is_refused_in_bounds(self):
        path = self.folder / "bomb.pb"
        path.write_bytes((GRAPHS / "sin.pb").read_bytes()
                         + b"\x0a\x03\x12\x01A" * (32 << 20))
        self.assert_corrupt(path)
        path = self.folder / "bomb.pbtxt"
        path.write_text("node { name: \"x\" y " + "{" * (32 << 20))
        self.assert_corrupt(path)
        path.write_text("node { name: \"x\" " * (1 << 20))
        self.assert_corrupt(path)

    def test_of_functions_in_a_circle_ends(self):
        text = "".join(
            f'function {{ signature {{ name: "f{i}" }} node_def {{ name: "c" '
            f'op: "PartitionedCall" attr {{ key: "f" value {{ func {{ name: '
            f'"f{(i + 1) % 1000}" }} }} }} }} }}\n' for i in range(1000))
        path = self.folder / "circle.pbtxt"
        path.write_text('node { name: "n" op: "f7" }\n'
                        f"library {{ {text} }}")
        answer, code = ask(path)
        self.assertEqual((answer["verdict"], code), ("fail", 1))
        self.assertEqual([one["cause"] for one in answer["findings"]],
                         ["op-unsupported"])
        self.assertIn("recursively", answer["findings"][0]["what"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
