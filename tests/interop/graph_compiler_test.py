#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No verdict on a TensorFlow graph contradicts TensorFlow's own compiler.

The graphs of tests/data/graphs are made anew and judged by muster; the same
functions are compiled by XLA (jit_compile=True, on the CPU). What muster passes
must compile, what it fails must not; a warning is no verdict.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from interop_python import interop_python

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "support"))
# pylint: disable=wrong-import-position
from graph_table import TABLE  # noqa: E402

GRAPHS = SOURCE / "tests" / "data" / "graphs"
COMPILE = r"""
import json, os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
sys.path.insert(0, sys.argv[1])
import make_graphs as made
tf = made.tf

def asked(function, args):
    try:
        tf.function(function, jit_compile=True)(*args)
        return [True, ""]
    except Exception as error:
        return [False, " ".join(str(error).split())[:300]]

answers = {name: asked(*one) for name, one in made.PROGRAMS.items()}
model = made.Small()
images, labels = tf.zeros([64, 28, 28, 1]), tf.zeros([64], tf.int32)
answers["model@serving_default"] = asked(model.serve, [images])
answers["model@fit"] = asked(model.fit, [images, labels])
answers["model@files"] = asked(model.serve_files, [tf.constant(["x"])])
json.dump(answers, open(sys.argv[2], "w"))
"""


def verdict(path, *flags):
    done = subprocess.run(
        [os.environ["MUSTER_BINARY"], "check", "program", str(path), "--on",
         "v5e:2x4", "--output", "json", *flags], check=False,
        capture_output=True, text=True)
    return json.loads(done.stdout)["verdict"]


def main():
    python = interop_python("tensorflow")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, GRAPHS / "make_graphs.py", folder], check=True,
                       stderr=subprocess.DEVNULL)
        out = pathlib.Path(folder, "answers.json")
        subprocess.run([python, "-c", COMPILE, GRAPHS, out], check=True,
                       stderr=subprocess.DEVNULL)
        answers = json.loads(out.read_text())
        failures, compared = [], 0
        for name, (compiles, why) in answers.items():
            graph, _, signature = name.partition("@")
            path = pathlib.Path(folder, graph if signature else f"{graph}.pb")
            flags = ["--signature", signature] if signature else []
            ours = verdict(path, *flags)
            row = TABLE[graph]
            told = f"{name}: muster says {ours}, XLA " + (
                "compiles it" if compiles else f"says {why}")
            if not signature and ours != row.verdict:
                failures.append(f"{told}; the table says {row.verdict}")
            if not signature and row.compiler not in (None, compiles):
                failures.append(f"{told}; the table says {row.compiler}")
            if ours == "warn" or (not signature and row.compiler is None):
                print(f"not compared: {told} ({row.why or 'a warning'})")
                continue
            compared += 1
            if (ours == "pass") != compiles:
                failures.append(told)
    table = subprocess.run(
        [python, SOURCE / "src" / "program" / "graph" / "make_tpu_ops.py",
         "--check"], check=False, capture_output=True, text=True)
    print(table.stdout.strip())
    if table.returncode:
        failures.append("tpu_ops.txt is not what TensorFlow says")
    print(f"{compared} graphs compared")
    print("\n".join(failures))
    sys.exit(1 if failures or compared < 30 else 0)


if __name__ == "__main__":
    main()
