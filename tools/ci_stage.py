#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the tests of a stage of .ci/run, and says what it left out and why.

  tools/ci_stage.py STAGE STATUS LOG [--skips .ci/skips] [--tests LastTest.log]

LOG is what the stage printed. A test of ctest that passed may have left out a
part of itself: that stands in ctest's own log only. The last line is three
numbers, `PASSED SKIPPED FAILED`: a test that was skipped as a whole did not pass,
a skip that .ci/skips does not allow is a failure, and so is a stage that ends
with another STATUS than 0 though none of its tests failed.
"""
import argparse
import collections
import pathlib
import re

from skipped import NO_REASON, ROOT, Allowed, skips_of

SUMMARY = re.compile(r" (\d+) tests failed out of (\d+)$", re.M)
WHOLE = re.compile(r"^ *\d+/\d+ Test +#\d+: (\S+) \.*\*\*\*Skipped", re.M)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stage")
    parser.add_argument("status", type=int)
    parser.add_argument("log", type=pathlib.Path)
    parser.add_argument("--skips", type=pathlib.Path,
                        default=ROOT / ".ci" / "skips")
    parser.add_argument("--tests", type=pathlib.Path)
    line = parser.parse_args()
    preset = "release" if line.stage == "test" else line.stage
    tests = line.tests or (ROOT / "build" / preset / "Testing" / "Temporary"
                           / "LastTest.log")

    log = line.log.read_text(errors="replace")
    summaries = SUMMARY.findall(log)
    failed, total = map(int, summaries[-1]) if summaries else (0, 0)
    skips = []
    if summaries:
        skips = (list(skips_of(tests.read_text(errors="replace")))
                 if tests.exists() else [("ctest", f"it wrote no {tests}")])
    whole = WHOLE.findall(log)
    named = {test for test, _ in skips}
    skips += [(test, NO_REASON) for test in whole if test not in named]

    allowed = Allowed(line.skips)
    refused = 0
    for (test, reason), times in collections.Counter(skips).items():
        fine = allowed.why(line.stage, test, reason) is not None
        refused += 0 if fine else times
        print(f"{'skipped' if fine else 'MAY NOT BE SKIPPED'}: {test}: {reason}"
              + (f" ({times} times)" if times > 1 else ""))
    passed = total - failed - len(whole)
    failed += refused
    if line.status != 0 and failed == 0:
        failed = 1
    if not summaries and failed == 0:
        passed = 1
    print(passed, len(skips), failed)


if __name__ == "__main__":
    main()
