#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The include-table tool finds what it is there to find."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(os.environ["MUSTER_SOURCE"]) / "tools" / "layers.py"


def layers(files):
    """Runs the tool on a tree of the given files; its exit code and output."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = pathlib.Path(root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, TOOL, "--root", root],
                              capture_output=True, text=True, timeout=30)
        return done.returncode, done.stdout


class Layers(unittest.TestCase):
    def test_accepts_an_arrow_that_goes_down(self):
        self.assertEqual(layers({"src/run/a.cc": '#include "sys/loop.h"\n'}),
                         (0, ""))

    def test_refuses_an_arrow_that_goes_up(self):
        code, out = layers({"src/sys/a.cc": '\n#include "run/plan.h"\n'})
        self.assertEqual(code, 1)
        self.assertIn("src/sys/a.cc:2: sys may not include run", out)

    def test_knows_the_owner_of_a_public_header(self):
        code, out = layers({"src/base/a.cc": '#include "muster/cluster.h"\n'})
        self.assertEqual(code, 1)
        self.assertIn("base may not include cluster", out)

    def test_refuses_a_library_outside_its_owner(self):
        code, out = layers({"src/run/a.cc": "#include <torch/torch.h>\n"})
        self.assertEqual(code, 1)
        self.assertIn("is for train only", out)

    def test_refuses_a_library_in_quotes_as_well(self):
        for name in ("torch/torch.h", "channel/grpc/muster.v1.grpc.pb.h", "zlib.h"):
            code, out = layers({"src/run/a.cc": f'#include "{name}"\n'})
            self.assertEqual(code, 1, name)
            self.assertIn(f"{name} is for ", out)

    def test_refuses_the_operating_system_outside_the_seam(self):
        for name in ("<unistd.h>", "<pthread.h>", "<dlfcn.h>", "<net/if.h>",
                     "<sys/vfs.h>", "<sys/utsname.h>", '"sys/socket.h"'):
            code, out = layers({"src/run/a.cc": f"#include {name}\n"})
            self.assertEqual(code, 1, name)
            self.assertIn("go through src/sys", out)

    def test_tells_our_header_from_one_of_the_same_name(self):
        self.assertEqual(
            layers({"src/run/a.cc": '#include "sys/random.h"\n',
                    "src/sys/random.h": "\n"}), (0, ""))


if __name__ == "__main__":
    unittest.main()
