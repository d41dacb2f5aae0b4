#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs conformance vectors (one file each) into one file for each resolver.

  tools/pack_vectors.py DIR OUT     one vector a line, without its remarks
"""
import collections
import json
import pathlib
import sys


def main():
    source, out = map(pathlib.Path, sys.argv[1:3])
    by_resolver = collections.defaultdict(list)
    for path in sorted(source.glob("*.json")):
        vector = json.loads(path.read_text())
        for key in ("basis", "verified", "note"):
            vector.pop(key, None)
        by_resolver[vector["resolver"]].append(vector)
    out.mkdir(parents=True, exist_ok=True)
    for resolver, vectors in by_resolver.items():
        lines = ",\n".join(json.dumps(v, ensure_ascii=False) for v in vectors)
        (out / f"{resolver}.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
