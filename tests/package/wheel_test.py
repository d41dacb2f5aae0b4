#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheel is installed without network, and used, under every CPython that is
here and that it is for."""
import glob
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import dist

HERE = pathlib.Path(__file__).parent
WHEEL = dist.only("*.whl")
TRAIN = ("import os, muster; muster.step(1, loss=0.5); "
         "print('rank', os.environ['RANK'], 'of', os.environ['WORLD_SIZE'])")


def pythons():
    """{version: interpreter}, from 3.9 on."""
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    found = {}
    for path in [*glob.glob("/usr/bin/python3*"),
                 *glob.glob(f"{root}/versions/*/bin/python3")]:
        done = subprocess.run(
            [path, "-c", "import sys, ensurepip; assert sys.version_info >= "
             "(3, 9); print(*sys.version_info[:2], sep='.')"],
            capture_output=True, text=True, check=False)
        if done.returncode == 0:
            found.setdefault(done.stdout.strip(), path)
    return found


class Wheel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def try_out(self, python):
        dist.run(python, "-m", "venv", self.folder / "venv")
        bin_ = self.folder / "venv" / "bin"
        pip = [bin_ / "pip", "--disable-pip-version-check"]
        dist.run(*pip, "install", "--no-index", WHEEL)
        version = dist.run(dist.BINARY, "--version")
        self.assertEqual(dist.run(bin_ / "muster", "--version"), version)
        self.assertEqual(dist.run(bin_ / "python", "-m", "muster",
                                  "--version"), version)
        train = self.folder / "train.py"
        train.write_text(TRAIN)
        text = dist.run(bin_ / "muster", "run", "-n", "2", "--",
                        bin_ / "python", train, cwd=self.folder)
        self.assertIn("[rank 0] rank 0 of 2", text)
        self.assertIn("[rank 1] rank 1 of 2", text)
        dist.run(bin_ / "python", HERE / "python_uses.py", cwd=self.folder)
        # It brings nothing else.
        self.assertRegex(dist.run(*pip, "freeze"), "^muster @ [^\n]*\n$")
        dist.run(*pip, "uninstall", "--yes", "muster")
        self.assertEqual(
            [str(path) for path in (self.folder / "venv").rglob("*muster*")],
            [])

    def test_it_is_small(self):
        self.assertLess(WHEEL.stat().st_size, 15e6)

    def test_it_is_typed(self):
        python = os.environ.get("MUSTER_NOTEBOOK_PYTHON")
        if not python:
            self.skipTest("MUSTER_NOTEBOOK_PYTHON names no Python with mypy")
        dist.run(python, "-m", "mypy", "--strict", "--no-error-summary",
                 "--cache-dir", self.folder, "--python-version", "3.9",
                 dist.SOURCE / "packaging" / "python" / "muster")

    def test_in_a_notebook(self):
        python = os.environ.get("MUSTER_NOTEBOOK_PYTHON")
        if not python:
            self.skipTest("MUSTER_NOTEBOOK_PYTHON names no Python with IPython")
        site = self.folder / "site"
        shutil.unpack_archive(WHEEL, site, "zip")
        (site / "muster" / "bin" / "muster").chmod(0o755)
        dist.run(python, HERE / "notebook_uses.py", cwd=self.folder,
                 env={**os.environ, "PYTHONPATH": str(site)})


def under(python):
    return lambda self: self.try_out(python)


for name, interpreter in sorted(pythons().items()):
    setattr(Wheel, f"test_under_python_{name.replace('.', '_')}",
            under(interpreter))

if __name__ == "__main__":
    unittest.main(verbosity=2)
