#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program outside the tree builds with find_package(muster) and runs."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["MUSTER_SOURCE"],
                                    "tests", "fakes")))
# pylint: disable=wrong-import-position
from http_fakes import Fake, tpu_vm  # noqa: E402

BUILD = os.environ["MUSTER_BUILD"]
SOURCE = pathlib.Path(os.environ["MUSTER_SOURCE"])
HERE = pathlib.Path(__file__).parent
HAS_TRAIN = (pathlib.Path(BUILD) / "libmuster_train.a").exists()


def run(*argv, **options):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300,
                          **options)
    if done.returncode != 0:
        print(done.stdout, done.stderr, file=sys.stderr)
    return done


class Package(unittest.TestCase):
    """Installed once into an empty folder."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.prefix = cls.folder / "prefix"
        assert run("cmake", "--install", BUILD,
                   "--prefix", cls.prefix).returncode == 0

    def build(self, name):
        build = self.folder / f"build-{name}"
        self.assertEqual(run("cmake", "-S", HERE / name, "-B", build,
                             f"-DCMAKE_PREFIX_PATH={self.prefix}").returncode,
                         0)
        self.assertEqual(run("cmake", "--build", build).returncode, 0)
        return build / name

    def start(self, program):
        done = run(self.prefix / "bin" / "muster", "run", "-n", "2", "--",
                   program, cwd=self.folder)
        self.assertEqual(done.returncode, 0)
        return done.stdout

    def test_a_program_with_the_library_alone_needs_no_torch_and_no_grpc(self):
        program = self.build("user")
        text = self.start(program)
        self.assertIn("rank 0 of 2", text)
        self.assertIn("rank 1 of 2", text)
        libraries = run("ldd", program).stdout
        self.assertNotIn("torch", libraries)
        self.assertNotIn("grpc", libraries)
        with Fake(tpu_vm()) as fake:
            done = run(program, "resolve",
                       env={"GCE_METADATA_HOST": fake.address})
        self.assertEqual(done.stdout, "size 2 (metadata attribute "
                                      "worker-network-endpoints)\n")

    def test_a_program_for_a_plug_in_needs_no_torch(self):
        program = self.build("pjrt")
        self.assertNotIn("torch", run("ldd", program).stdout)
        done = subprocess.run(
            [program, "--plugin", "/none.so", "--step",
             SOURCE / "examples/pjrt_fashion_mnist/dense/step.json"],
            capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("file-missing", done.stderr)

    @unittest.skipUnless(HAS_TRAIN, "this build has no libtorch")
    def test_a_program_that_trains_gets_its_libtorch(self):
        text = self.start(self.build("trainer"))
        self.assertIn("replica 0 of 2", text)
        self.assertIn("replica 1 of 2", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)  # says why a test is skipped
