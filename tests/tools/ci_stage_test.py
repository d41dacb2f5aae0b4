#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is counted of a stage of .ci/run, and what it may leave out."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(os.environ["MUSTER_SOURCE"]) / "tools" / "ci_stage.py"
CTEST = """\
1/3 Test #1: pjrt ..........   Passed    0.10 sec
2/3 Test #2: lab ...........***Skipped   0.06 sec
3/3 Test #3: run ...........   Passed    0.10 sec

100% tests passed, 0 tests failed out of 3
"""


def part(name, output):
    return f"1/3 Testing: {name}\n1/3 Test: {name}\n{output}\n<end of output>\n"


LAB = part("lab", "skipped: no network namespaces here")
ALL_ALLOWED = "test lab no network namespaces here\n"


def count(tests="", skips=ALL_ALLOWED, log=CTEST, status=0, stage="test"):
    """The lines of the tool; the last one as three numbers."""
    with tempfile.TemporaryDirectory() as root:
        files = {"log": log, "skips": "# why\n" + skips, "tests": tests}
        paths = {name: pathlib.Path(root, name) for name in files}
        for name, text in files.items():
            paths[name].write_text(text)
        done = subprocess.run(
            [sys.executable, TOOL, stage, str(status), paths["log"],
             "--skips", paths["skips"], "--tests", paths["tests"]],
            capture_output=True, text=True, check=True, timeout=30)
    *said, numbers = done.stdout.splitlines()
    return said, tuple(map(int, numbers.split()))


class Counting(unittest.TestCase):
    def test_a_test_skipped_as_a_whole_did_not_pass(self):
        said, numbers = count(LAB)
        self.assertEqual(said, ["skipped: lab: no network namespaces here"])
        self.assertEqual(numbers, (2, 1, 0))

    def test_a_skip_that_is_not_listed_is_a_failure(self):
        said, numbers = count(LAB, "tsan lab no network namespaces here\n")
        self.assertEqual(said,
                         ["MAY NOT BE SKIPPED: lab: no network namespaces here"])
        self.assertEqual(numbers, (2, 1, 1))

    def test_a_test_skipped_without_a_word_is_a_failure(self):
        said, numbers = count()
        self.assertEqual(said, ["MAY NOT BE SKIPPED: lab: no reason given"])
        self.assertEqual(numbers, (2, 1, 1))

    def test_a_part_skipped_by_gtest_is_told_though_ctest_says_passed(self):
        said, numbers = count(LAB + part(
            "pjrt", "/src/abi_test.cc:381: Skipped\nno pjrt_c_api.h\n"
                    "[  SKIPPED ] 1 test."))
        self.assertIn("MAY NOT BE SKIPPED: pjrt: no pjrt_c_api.h", said)
        self.assertEqual(numbers, (2, 2, 1))

    def test_a_part_skipped_by_unittest_is_told_with_its_reason(self):
        said, _ = count(LAB + part(
            "run", "test_a (__main__.A.test_a) ... skipped 'no gRPC'\n"
                   "OK (skipped=1)"))
        self.assertIn("MAY NOT BE SKIPPED: run: no gRPC", said)
        self.assertEqual(len(said), 2)

    def test_what_a_quiet_unittest_skipped_is_counted(self):
        said, numbers = count(LAB + part("run", "..s.s\nOK (skipped=2)"))
        self.assertIn("MAY NOT BE SKIPPED: run: no reason given (2 times)", said)
        self.assertEqual(numbers, (2, 3, 2))

    def test_a_stage_without_tests_counts_itself(self):
        self.assertEqual(count(log="installed\n"), ([], (1, 0, 0)))
        self.assertEqual(count(log="oops\n", status=1), ([], (0, 0, 1)))

    def test_a_stage_that_ends_badly_after_good_tests_has_failed(self):
        _, numbers = count(LAB, status=8)
        self.assertEqual(numbers, (2, 1, 1))


if __name__ == "__main__":
    unittest.main()
