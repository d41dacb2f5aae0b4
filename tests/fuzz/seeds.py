#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds of the fuzzers of resolve, made from the conformance vectors, and of
those of messages.

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


def mesh_frame(kind, body):
    length = (len(body) + 1).to_bytes(4, "little")
    return b"MUSF" + length + bytes([kind]) + body + 32 * b"s"


# One message of each shape: a kind, a line feed, a body; frames of the mesh.
MORE += [("agent_messages_fuzz", text) for text in (
    b'call\n{"attempt": 1}',
    b'refused\n{"cause": "peer-died", "message": "x", "evidence": []}',
    b'stop\n{"attempt": 1, "cause": "peer-died", "now": true}',
    b'stopped\n{"attempt": 1, "leftovers": 2, "logs": []}',
    b'goodbye\n{"exit_code": 75, "origin": "muster", "summary": "s"}',
    b'store\n{"rank": 0, "attempt": 1, "frame": "00ff"}',
    b'store-reply\n{"rank": 0, "attempt": 1, "frame": "00ff"}',
    b'started\n{"rank": 0, "pid": 7, "attempt": 1, '
    b'"at": "2026-11-21T14:35:19.000123Z"}',
    b'progress\n{"attempt": 1, "now_ns": 5, "ranks": []}',
    b'fact\n{"name": "f", "fields": {"n": 1, "t": "x", "b": true, "d": 0.5}, '
    b'"subject": "s", "by": "b", "at": "2026-11-21T14:35:19.000123Z"}',
    b'peer-check-result\n{"attempt": 1, "row": "{}"}',
    b'hello\n{"protocol": 1, "messages": 99, "version": "9", "ranks": [0]}')]
MORE += [("mesh_frame_fuzz", mesh_frame(1, b'{"nonce": "n"}')),
         ("mesh_frame_fuzz", mesh_frame(6, b"row") + mesh_frame(8, b"")),
         ("mesh_frame_fuzz", b"MUSF\xff\xff\xff\x7f\x06")]
# A name, a carrier, in JSON or not; then a secret and text around it.
MORE += [("redact_fuzz", bytes([name, carrier, name % 2]) + text)
         for name in range(2) for carrier in range(11)
         for text in (b"hunter2hunter2", b"-----BEGIN PRIVATE KEY-----\nMIIE",
                      b"https://u:p@h/x?sig=1 token: \\\"a\\\"\\n")]


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
