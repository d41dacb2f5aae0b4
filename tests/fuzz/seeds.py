#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds of the fuzzers of resolve, made from the conformance vectors.

  tests/fuzz/seeds.py VECTORS OUT     OUT/grammar_fuzz/…, OUT/resolve_fuzz/…
"""
import json
import pathlib
import sys

# Which grammar of grammar_fuzz an argument is for.
GRAMMARS = {"hostlist": 0, "tasks_per_node": 1, "endpoint": 2, "tpu": 3,
            "cluster_spec": 5, "conf": 6, "nnodes": 8,
            "accelerator_type": 10}


def seeds(vector):
    args = vector.get("args") or {}
    for name, number in GRAMMARS.items():
        value = args.get(name)
        if value is not None:
            text = value if isinstance(value, str) else json.dumps(value)
            yield "grammar_fuzz", bytes([number]) + text.encode()
    for path, text in (vector.get("files") or {}).items():
        if "host" in path:
            yield "grammar_fuzz", b"\x04" + text.encode()
            yield "resolve_fuzz", b"\x05" + text.encode()
        if "resourceconfig" in path:
            yield "resolve_fuzz", b"\x04" + text.encode()
    env = vector.get("env") or {}
    if "TF_CONFIG" in env:
        yield "resolve_fuzz", b"\x00" + env["TF_CONFIG"].encode()
    if env:
        lines = "\n".join(f"{k}={v}" for k, v in env.items())
        yield "resolve_fuzz", b"\x03" + lines.encode()
    for url, answer in (vector.get("http") or {}).items():
        body = (answer.get("body") or "").encode()
        number = (0 if "tpu-env" in url else 1 if "endpoints" in url else
                  2 if "tpu.googleapis" in url else
                  3 if "listInstances" in url else
                  4 if "instances/" in url else
                  5 if "labelSelector" in url else
                  6 if "/pods" in url else 7)
        yield "http_fuzz", bytes([number]) + body


# What no vector has: versions of packages, names of TPUs, credentials.
MORE = [("resolve_fuzz", b"\x07jaxlib (<=0.4.35,>=0.4.34) ; extra == 'tpu'"),
        ("resolve_fuzz", b"\x07Requires-Dist: jaxlib[x]~=0.4.1rc1,!=0.4.*\n"),
        ("resolve_fuzz", b'\x06{"tpu_node_name": "t", "project": "p", '
                         b'"zone": "z", "type": "authorized_user"}'),
        ("grammar_fuzz", b"\x09n-0:1:10.0.0.1,n-1:2:10.0.0.2")]


def main():
    vectors, out = map(pathlib.Path, sys.argv[1:3])
    count = 0
    for path in sorted(vectors.glob("*.json")):
        for vector in json.loads(path.read_text()):
            for i, (fuzzer, data) in enumerate(seeds(vector)):
                folder = out / fuzzer
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{vector['id']}-{i}").write_bytes(data)
                count += 1
    for i, (fuzzer, data) in enumerate(MORE):
        (out / fuzzer).mkdir(parents=True, exist_ok=True)
        (out / fuzzer / f"more-{i}").write_bytes(data)
        count += 1
    print(f"{count} seeds in {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
