#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The conformance runner can fail: one wrong expectation in some vectors of each
resolver makes these fail, and no other.

  can_fail_test.py RESOLVE_CONFORMANCE VECTORS
"""
import collections
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


def pick(vectors, before):
    """Of each resolver the first, the last and some between, of those that are
    to answer and of those that are to refuse."""
    kinds = collections.defaultdict(list)
    for vector in vectors:
        if vector["id"] not in before:
            kinds[vector["resolver"], "expect" in vector].append(vector)
    for several in kinds.values():
        yield from several[:2] + several[2:-1:4] + several[2:][-1:]


def spoil(vector):
    """Expects what is not the answer."""
    if "expect" in vector:
        key = sorted(vector["expect"])[0]
        vector["expect"][key] = changed(vector["expect"][key])
    elif vector.get("error_must_name"):
        vector["error_must_name"].append("what no error names")
    else:
        del vector["expect_error"]
        vector["expect"] = {"num_processes": 1}


# Questions that cannot be put are no errors that anybody expects.
NOT_ASKED = [
    {"id": "an unknown resolver", "resolver": "no-such", "expect_error": "any"},
    {"id": "no argument", "resolver": "cluster-spec",
     "args": {}, "expect_error": "any"},
]


def main():
    runner, vectors = sys.argv[1], pathlib.Path(sys.argv[2])
    before, _ = failures(runner, vectors)
    mutated = {vector["id"] for vector in NOT_ASKED}
    contents = {path: json.loads(path.read_text())
                for path in sorted(vectors.glob("*.json"))}
    everything = [one for content in contents.values() for one in content]
    resolvers = {vector["resolver"] for vector in everything}
    tried = set()
    for vector in list(pick(everything, before)):
        spoil(vector)
        mutated.add(vector["id"])
        tried.add(vector["resolver"])
    with tempfile.TemporaryDirectory() as folder:
        for path, content in contents.items():
            pathlib.Path(folder, path.name).write_text(json.dumps(content))
        pathlib.Path(folder, "not-asked.json").write_text(json.dumps(NOT_ASKED))
        after, report = failures(runner, folder)
    assert tried == resolvers, f"never changed: {sorted(resolvers - tried)}"
    assert after - before == mutated, \
        f"missed {sorted(mutated - after)}, extra {sorted(after - before - mutated)}"
    print(f"{len(mutated)} of {report['total']} vectors of {len(resolvers)} "
          f"resolvers changed, {len(after - before)} fail")


if __name__ == "__main__":
    main()
