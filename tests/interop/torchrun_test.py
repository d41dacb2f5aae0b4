#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`muster torchrun` beside torchrun's own parser, of the wheel: each of its
flags is served, translated or refused; and its usual lines run."""
import json
import subprocess
import sys
import pathlib
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
# pylint: disable=wrong-import-position
from interop_python import interop_python  # noqa: E402
from muster_test import MusterTest, clean_environment  # noqa: E402

PYTHON = str(interop_python("torch"))
# The options of the parser: names, and whether one takes a value.
WALK = """
import json
from torch.distributed.run import get_args_parser
print(json.dumps([[list(a.option_strings), a.nargs != 0]
                  for a in get_args_parser()._actions
                  if a.option_strings and "--help" not in a.option_strings]))
"""
VALUES = {"--nnodes": "1", "--rdzv-conf": "a=b", "--start-method": "spawn",
          "--numa-binding": "node"}
SCRIPT = """
import os, sys
print("rank", os.environ["RANK"], "of", os.environ["WORLD_SIZE"],
      sys.argv[1:], flush=True)
"""
LINES = [
    "--nproc_per_node=2 t.py",
    "--nproc-per-node 2 t.py --lr 0.1",
    "--standalone --nproc-per-node=2 t.py",
    "--standalone --nnodes=1 --nproc-per-node=2 t.py",
    "--nnodes=1 --nproc-per-node=2 --rdzv-id=1 --rdzv-backend=c10d "
    "--rdzv-endpoint=localhost:0 t.py",
    "--nnodes 1 --node_rank 0 --master_addr localhost --master_port 29511 "
    "--nproc_per_node 2 t.py",
    "--max-restarts 3 --nproc-per-node 2 t.py",
    "--nproc-per-node 2 -m t a b",
    "--nproc-per-node 2 --no_python python3 t.py",
    "-t 3 -r 3 --log_dir logs --nproc-per-node 2 t.py",
    "--nnodes=1:1 --nproc-per-node=2 --monitor-interval 5 t.py -- -x",
    "--run-path --nproc-per-node 2 t.py",
]


class Torchrun(MusterTest):
    def setUp(self):
        super().setUp()
        (self.folder / "t.py").write_text(SCRIPT)

    def torchrun(self, words):
        return self.muster("torchrun", *words, folder=self.folder)

    def test_knows_every_flag_of_its_parser(self):
        walked = subprocess.run(
            [PYTHON, "-c", WALK], capture_output=True, text=True, check=True,
            env=clean_environment())
        options = json.loads(walked.stdout)
        self.assertGreater(len(options), 25)
        refused = set()
        for names, has_value in options:
            for name in names:
                dashed = "--" + name.lstrip("-").replace("_", "-")
                words = [name]
                if has_value:
                    words.append(VALUES.get(dashed, "1"))
                program = "t" if "-m" in names else "t.py"
                if "--no-python" in names:
                    program = "true"
                done = self.torchrun([*words, program])
                if "becomes --bind-devices" in done.err:
                    self.assertIn("device-missing", done.err)  # none is here
                elif done.code != 0:
                    self.assertIn("is not served", done.err, words)
                    refused.add(dashed)
        self.assertEqual(refused, {"--local-addr", "--logs-specs"})

    def test_runs_its_usual_lines(self):
        for line in LINES:
            with self.subTest(line):
                done = self.torchrun(line.split())
                self.assertEqual(done.code, 0, done.err)
                for rank in (0, 1):
                    self.assertIn(f"rank {rank} of 2", done.out)

    def test_of_two_hosts_says_what_is_missing(self):
        done = self.torchrun("--nnodes 4 --rdzv-endpoint far:1 t.py".split())
        self.assertEqual(done.code, 2)
        self.assertIn("--node-rank 0 to 3", done.err)
        done = self.torchrun("--nnodes 1:4 t.py".split())
        self.assertEqual(done.code, 2)
        self.assertIn("a range", done.err)


if __name__ == "__main__":
    unittest.main()
