#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The conformance runner can fail: one wrong expectation in each of 50 vectors
gives 50 failing vectors, and no other.

  can_fail_test.py RESOLVE_CONFORMANCE VECTORS
"""
import json
import pathlib
import subprocess
import sys
import tempfile


def changed(value):
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, list):
        return value + ["one more"]
    if isinstance(value, dict):
        return {**value, "one more": "x"}
    return "no longer null"


def failures(runner, folder):
    done = subprocess.run([runner, "--output", "json", folder],
                          capture_output=True, text=True, timeout=50)
    report = json.loads(done.stdout)
    assert (done.returncode == 0) == (report["passed"] == report["total"]), \
        f"exit {done.returncode} for {report['passed']} of {report['total']}"
    return {failure["id"] for failure in report["failures"]}, report


def main():
    runner, vectors = sys.argv[1], pathlib.Path(sys.argv[2])
    before, _ = failures(runner, vectors)
    mutated = set()
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(vectors.glob("*.json")):
            content = json.loads(path.read_text())
            for i, vector in enumerate(content):
                usable = vector.get("expect") and vector["id"] not in before
                # A few of each resolver, so that all of them are tried.
                if not usable or i % 4 != 0 or len(mutated) == 50:
                    continue
                key = sorted(vector["expect"])[0]
                vector["expect"][key] = changed(vector["expect"][key])
                mutated.add(vector["id"])
            pathlib.Path(folder, path.name).write_text(json.dumps(content))
        after, report = failures(runner, folder)
    assert len(mutated) == 50, f"only {len(mutated)} vectors were changed"
    assert after - before == mutated, \
        f"missed {sorted(mutated - after)}, extra {sorted(after - before - mutated)}"
    print(f"{len(mutated)} of {report['total']} vectors changed, "
          f"{len(after - before)} fail")


if __name__ == "__main__":
    main()
