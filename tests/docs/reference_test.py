#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/reference/json.md names every key of the documents that the program
prints, and docs/reference/events.md every fact of a coordinator.

  MUSTER_BINARY=… MUSTER_SOURCE=… tests/docs/reference_test.py
"""
import json
import re
import sys
import tempfile

from environment import SOURCE, run

REFERENCE = SOURCE / "docs" / "reference"
# What a command prints, and what it leaves behind.
COMMANDS = [
    ("muster resolve -n 2 --output json", []),
    ("muster run -n 2 --dry-run --output json -- true", []),
    ("muster run -n 2 --output json -- false", []),
    ("muster run -n 1 --output json -- no-such-program", []),
    ("muster check --output json", []),
    ("muster check --list --output json", []),
    ("muster check fit --params 1B --activations 1GB --on v5e-8 --output json",
     []),
    ("muster check fit --params 70B --activations 1GB --on v5e-8 --output json",
     []),
    ("""echo 'node { name: "y" op: "Sin" input: "x" }' >s.pbtxt
        muster check program s.pbtxt --on v5e:2x4 --output json""", []),
    ("echo 'Killed' | muster explain - --output json", []),
    ("echo 'step 1 loss 2' | muster explain - --output json", []),
    ("muster explain --exit 137 --output json", []),
    ("muster explain peer-died --output json", []),
    ("muster explain --list --output json", []),
    ("echo x >log; muster bundle log --output json", []),
    ("muster run -n 1 -- true 2>/dev/null; muster runs --output json", []),
    ("muster runs prune --keep 1 --output json", []),
    ("muster run -n 2 -- echo hello >/dev/null 2>&1; "
     "muster logs --output json", []),
    ("muster config --output json", []),
    ("muster tpu list --zone us-west4-a --output json", ["@cloud"]),
    ("muster tpu types --zone us-west4-a --output json", ["@cloud"]),
    ("muster tpu versions --zone us-west4-a --output json", ["@cloud"]),
    ("muster tpu queued list --zone us-west4-a --output json", ["@cloud"]),
    ("muster tpu describe first --zone us-west4-a --output json", ["@cloud"]),
    ("muster tpu auth --output json", ["@cloud"]),
    ("muster tpu doctor --zone us-west4-a --type v5litepod-8 --output json",
     ["@cloud"]),
    ("muster tpu create m --type v5litepod-8 --zone us-west4-a --dry-run "
     "--output json", ["@cloud"]),
    ("muster tpu reap --output json", ["@cloud"]),
]
# Keys below these are values of their own: names of variables, counts.
FREE = {"environment", "details", "removed", "data", "value"}


def sections(text):
    """Schema -> what the page says of it. A row of a table, or a title."""
    found = {}
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        title, _, body = section.partition("\n")
        found[title] = body
        for row in re.findall(r"^\| `muster\..*$", body, re.M):
            first = row.split("|")[1]
            names = re.findall(r"`([\w.]+/\d)`", first)
            for name in names:
                prefix = "" if name.startswith("muster.") else "muster.tpu"
                found[prefix + name] = row
    return found


def keys_of(value):
    """The keys of a document, and the documents within."""
    keys, inner = set(), []
    if isinstance(value, dict):
        for key, one in value.items():
            keys.add(key)
            if isinstance(one, dict) and "schema" in one:
                inner.append(one)
            elif key not in FREE:
                more, others = keys_of(one)
                keys |= more
                inner += others
    elif isinstance(value, list):
        for one in value:
            if isinstance(one, dict) and "schema" in one:
                inner.append(one)
            else:
                more, others = keys_of(one)
                keys |= more
                inner += others
    return keys, inner


def check_document(document, page, command, seen):
    schema = document["schema"]
    seen.add(schema)
    if schema not in page:
        return [f"json.md does not have {schema} of `{command}`"]
    keys, inner = keys_of(document)
    named = set(re.findall(r"`(\w+)`", page[schema]))
    if schema.endswith("list/1"):
        named |= set(re.findall(r"`(\w+)`", page[schema.replace(".list", "")]))
    # A sourced value is explained once.
    missing = keys - named - {"schema", "value", "source"}
    failures = [f"json.md: {schema} does not name {sorted(missing)} of "
                f"`{command}`"] if missing else []
    for one in inner:
        failures += check_document(one, page, command, seen)
    return failures


def check_events():
    page = (REFERENCE / "events.md").read_text()
    header = next(iter(SOURCE.glob("src/*/events.h"))).read_text()
    facts = re.findall(r'string_view k\w+ =\s*"([a-z_.]+)"', header)
    return [f"events.md does not have {fact}"
            for fact in facts if f"`{fact}`" not in page]


def main():
    page = sections((REFERENCE / "json.md").read_text())
    failures, seen = check_events(), set()
    for command, words in COMMANDS:
        with tempfile.TemporaryDirectory() as folder:
            text = run(command, words, folder=folder)
        try:
            document = json.loads(text)
        except ValueError:
            failures.append(f"`{command}` printed no document: {text[:200]}")
            continue
        failures += check_document(document, page, command, seen)
    print("\n".join(failures))
    print(f"{len(seen)} schemas, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
