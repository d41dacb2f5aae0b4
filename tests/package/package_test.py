#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program outside the tree builds with find_package(muster) and runs."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = os.environ["MUSTER_BUILD"]
USER = pathlib.Path(__file__).parent / "user"


def run(*argv, **options):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300,
                          **options)
    if done.returncode != 0:
        print(done.stdout, done.stderr, file=sys.stderr)
    return done


class Package(unittest.TestCase):
    def test_a_user_program_finds_builds_and_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            prefix = f"{folder}/prefix"
            run("cmake", "--install", BUILD, "--prefix", prefix)
            build = f"{folder}/build"
            self.assertEqual(run("cmake", "-S", USER, "-B", build,
                                 f"-DCMAKE_PREFIX_PATH={prefix}").returncode, 0)
            self.assertEqual(run("cmake", "--build", build).returncode, 0)
            done = run(f"{prefix}/bin/muster", "run", "-n", "2", "--",
                       f"{build}/user", cwd=folder)
            self.assertEqual(done.returncode, 0)
            self.assertIn("rank 0 of 2", done.stdout)
            self.assertIn("rank 1 of 2", done.stdout)
            libraries = run("ldd", f"{build}/user").stdout
            self.assertNotIn("torch", libraries)
            self.assertNotIn("grpc", libraries)


if __name__ == "__main__":
    unittest.main()
