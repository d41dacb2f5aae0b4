#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The set-up says what it cannot do, also by its exit code."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOOL = pathlib.Path(os.environ["MUSTER_SOURCE"]) / "tools" / "setup.sh"
PROGRAMS = ("awk", "bash", "cat", "comm", "dirname", "env", "id", "sed", "sort")


class SetUp(unittest.TestCase):
    def run_with(self, *lists, **programs):
        """The tool where there are these programs only: name and script."""
        with tempfile.TemporaryDirectory() as folder:
            for name in PROGRAMS:
                os.symlink(shutil.which(name), pathlib.Path(folder, name))
            for name, script in programs.items():
                path = pathlib.Path(folder, name.replace("_", "-"))
                path.write_text(f"#!/bin/sh\n{script}\n")
                path.chmod(0o755)
            return subprocess.run([TOOL, *lists], env={"PATH": folder},
                                  capture_output=True, text=True, timeout=30)

    def test_is_not_done_where_packages_are_of_another_kind(self):
        done = self.run_with()
        self.assertEqual(done.returncode, 2)
        self.assertIn("install by hand", done.stderr)

    def test_is_not_done_where_nobody_says_what_is_installed(self):
        done = self.run_with(dpkg_query="exit 1")
        self.assertNotEqual(done.returncode, 0)

    def test_is_not_done_without_a_list_that_it_is_given(self):
        done = self.run_with("no/such/list", dpkg_query="exit 0")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no/such/list", done.stderr)

    def test_installs_what_is_missing(self):
        done = self.run_with(dpkg_query="echo 'ii  bash'", id="echo 0",
                             apt_get="exit 0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"installing \d+ packages: binutils ")

    def test_installs_nothing_where_all_is_there(self):
        done = self.run_with(
            dpkg_query="sed 's/#.*//; s/^[a-z]/ii &/' tools/packages.txt",
            apt_get="exit 1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
