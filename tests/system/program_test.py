#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program file: what it needs of the machine."""
import os
import re
import subprocess
import unittest

MUSTER = os.environ["MUSTER_BINARY"]
# Ubuntu 22.04, the system of TPU VMs and Colab, has this one.
NEWEST_GLIBC = (2, 35)


def output(*argv):
    return subprocess.run(argv, capture_output=True, text=True, timeout=60,
                          check=True).stdout


class Program(unittest.TestCase):
    def test_needs_no_library_but_libc(self):
        needed = re.findall(r"NEEDED\s+(\S+)", output("objdump", "-p", MUSTER))
        allowed = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
        self.assertLessEqual(set(needed), allowed)

    def test_needs_no_newer_glibc_than_ubuntu_22_04(self):
        versions = {
            tuple(int(part) for part in found.split("."))
            for found in re.findall(r"GLIBC_([0-9.]+)",
                                    output("objdump", "-T", MUSTER))}
        self.assertTrue(versions)
        self.assertLessEqual(max(versions), NEWEST_GLIBC)


if __name__ == "__main__":
    unittest.main()
