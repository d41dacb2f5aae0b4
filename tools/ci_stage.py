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
import fnmatch
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
SUMMARY = re.compile(r" (\d+) tests failed out of (\d+)$", re.M)
WHOLE = re.compile(r"^ *\d+/\d+ Test +#\d+: (\S+) \.*\*\*\*Skipped", re.M)
PART = re.compile(r"^\d+/\d+ Testing: (\S+)$", re.M)
UNTOLD = "no reason told"


def told_by_gtest(text):
    """The reasons below "FILE:LINE: Skipped"."""
    return re.findall(r"^\S+:\d+: Skipped\n(.*)$", text, re.M)


def told_by_unittest(text):
    """The reasons that verbose tests tell, and as many more as the last line
    counts: those of a test that is not verbose are lost."""
    reasons = [reason for _, reason in re.findall(
        r"^(?:.* \.\.\. )?skipped (['\"])(.*)\1$", text, re.M)]
    for count in re.findall(r"^(?:OK|FAILED) \(.*\bskipped=(\d+)", text, re.M):
        reasons += [UNTOLD] * (int(count) - len(reasons))
    return reasons


def skips_of(text):
    """(test, reason) of everything in a LastTest.log that was left out."""
    _, *parts = PART.split(text)
    for name, output in zip(parts[::2], parts[1::2]):
        reasons = (told_by_gtest(output) + told_by_unittest(output)
                   + re.findall(r"^skipped: (.*)$", output, re.M))
        for reason in reasons:
            yield name, reason


def allowed_by(path):
    """(stages, test, reason) of each line: names and patterns of the shell."""
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            stages, test, reason = line.split(maxsplit=2)
            yield stages.split(","), test, reason


def is_allowed(allowed, stage, test, reason):
    return any(stage in stages and fnmatch.fnmatchcase(test, one)
               and fnmatch.fnmatchcase(reason, why)
               for stages, one, why in allowed)


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
    skips += [(test, UNTOLD) for test in whole if test not in named]

    allowed = list(allowed_by(line.skips))
    refused = 0
    for (test, reason), times in collections.Counter(skips).items():
        fine = is_allowed(allowed, line.stage, test, reason)
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
