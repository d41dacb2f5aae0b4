#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The packages are installed into a bare Debian 12 (tools/bare_root.sh) and
used there. Without network, except where libmuster-dev asks for packages of
Debian."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

import dist

BARE = dist.SOURCE / "build" / "root-bookworm"
MADE = BARE.with_suffix(".made")
PACKAGES = [dist.only("*.whl"), dist.only("muster_*.deb"),
            dist.only("libmuster-dev_*.deb")]
if os.getuid() != 0 or not MADE.exists():
    dist.skip("no bare Debian, or not root: make test-all")
if subprocess.run(["unshare", "--mount", "--net", "true"], check=False,
                  stderr=subprocess.DEVNULL).returncode != 0:
    dist.skip("no namespaces are given here")
TRAIN = "muster run -n 2 -- python3 train.py"


class Root(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=dist.SOURCE / "build")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name, "root")
        dist.run("cp", "-a", "--reflink=auto", BARE, self.root)
        for path in PACKAGES:
            shutil.copy(path, self.root / "root")
        (self.root / "root" / "train.py").write_text(
            "import os\nprint('rank', os.environ['RANK'], 'trains')\n")

    def inside(self, command, network=False):
        """What a shell prints there."""
        net = [] if network else ["--net"]
        first = "" if network else "ip link set lo up; "
        return dist.run(
            "unshare", "--mount", "--pid", "--fork", "--kill-child", *net, "sh",
            "-ec", f'{first}mount -t proc proc "$0/proc"; exec chroot "$0" '
            'sh -ec "cd /root; $1"', self.root, command,
            env={"PATH": "/root/v/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                 "DEBIAN_FRONTEND": "noninteractive"})

    def train_after(self, install):
        began = time.monotonic()
        text = self.inside(f"{install} && {TRAIN}")
        print(f"\n{install} && {TRAIN}: {time.monotonic() - began:.1f} s")
        for rank in range(2):
            self.assertIn(f"[rank {rank}] rank {rank} trains", text)

    def test_the_wheel(self):
        self.inside("python3 -m venv v")
        self.train_after("pip install --no-index ./muster-*.whl")
        self.inside("pip uninstall -y muster && ! command -v muster")

    def test_the_program(self):
        self.train_after("apt-get install -y ./muster_*.deb")
        self.inside("apt-get remove -y muster && ! command -v muster")

    def test_the_library(self):
        shutil.copy("/etc/resolv.conf", self.root / "etc" / "resolv.conf")
        self.inside("apt-get update && apt-get install -y "
                    "--no-install-recommends ./libmuster-dev_*.deb "
                    "./muster_*.deb g++ cmake make", network=True)
        shutil.copytree(pathlib.Path(__file__).parent / "user",
                        self.root / "root" / "user")
        text = self.inside("cmake -S user -B b && cmake --build b && "
                           "muster run -n 2 -- b/user")
        self.assertIn("rank 1 of 2", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
