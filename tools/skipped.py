#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says what ctest skipped, why, and what would run it.

  tools/skipped.py LastTest.log [STAGE] [--skips .ci/skips]

One line for each test and reason, for ctest's own summary names whole tests
only. What .ci/skips does not allow there is run by `make test-all`.
"""
import argparse
import collections
import fnmatch
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
PART = re.compile(r"^\d+/\d+ Testing: (\S+)$", re.M)
NO_REASON = "no reason given"


def by_gtest(text):
    """The reasons below "FILE:LINE: Skipped"."""
    return re.findall(r"^\S+:\d+: Skipped\n(.*)$", text, re.M)


def by_unittest(text):
    """The reasons that verbose tests tell, and as many more as the last line
    counts: those of a test that is not verbose are lost."""
    reasons = [reason for _, reason in re.findall(
        r"^(?:.* \.\.\. )?skipped (['\"])(.*)\1$", text, re.M)]
    for count in re.findall(r"^(?:OK|FAILED) \(.*\bskipped=(\d+)", text, re.M):
        reasons += [NO_REASON] * (int(count) - len(reasons))
    return reasons


def skips_of(text):
    """(test, reason) of everything in a LastTest.log that was left out."""
    _, *parts = PART.split(text)
    for name, output in zip(parts[::2], parts[1::2]):
        for reason in (by_gtest(output) + by_unittest(output)
                       + re.findall(r"^skipped: (.*)$", output, re.M)):
            yield name, reason


class Allowed:
    """The lines of .ci/skips: stages, test, reason (names and patterns of the
    shell), below comments that say why."""

    def __init__(self, path):
        self._lines = []
        comment, fresh = "", True
        for line in path.read_text().splitlines():
            if line.startswith("#"):
                comment = (line[1:].strip() if fresh
                           else f"{comment} {line[1:].strip()}")
                fresh = False
            elif line.strip():
                stages, test, reason = line.split(maxsplit=2)
                self._lines.append((stages.split(","), test, reason, comment))
                fresh = True

    def why(self, stage, test, reason):
        """The comment above the line that allows it, or None."""
        for stages, name, pattern, comment in self._lines:
            if (stage in stages and fnmatch.fnmatchcase(test, name)
                    and fnmatch.fnmatchcase(reason, pattern)):
                return comment
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tests", type=pathlib.Path)
    parser.add_argument("stage", nargs="?", default="test")
    parser.add_argument("--skips", type=pathlib.Path,
                        default=ROOT / ".ci" / "skips")
    line = parser.parse_args()
    skips = collections.Counter(
        skips_of(line.tests.read_text(errors="replace")))
    if not skips:
        return
    allowed = Allowed(line.skips)
    print(f"skipped, {len(skips)} in all (test: why; what runs it):")
    for (test, reason), times in sorted(skips.items()):
        why = allowed.why(line.stage, test, reason)
        how = "`make test-all`" if why is None else f"nothing here: {why}"
        print(f"  {test}: {reason}{f' ({times} times)' if times > 1 else ''}; "
              f"{how}")


if __name__ == "__main__":
    main()
