# SPDX-License-Identifier: Apache-2.0
"""`%load_ext muster` in a real IPython, whose output is not that of the
process, as in a notebook. Run by wheel_test.py."""
import io
import os
import pathlib
import signal
import sys
import threading
import time
import unittest

from IPython.core.interactiveshell import InteractiveShell


class Cell(io.StringIO):
    """Output of a cell, with the time of each part."""

    def __init__(self):
        super().__init__()
        self.parts = []

    def write(self, text):
        self.parts.append((time.monotonic(), text))
        return super().write(text)


class Notebook(unittest.TestCase):
    def setUp(self):
        self.shell = InteractiveShell.instance()
        self.shell.run_cell("%reload_ext muster")

    def run_cell(self, text):
        """(the exception or None, its output)"""
        stdout, sys.stdout = sys.stdout, Cell()
        try:
            result = self.shell.run_cell(text)
            return result.error_in_exec, sys.stdout
        finally:
            sys.stdout = stdout

    def test_the_cell_is_the_program_of_every_rank(self):
        pathlib.Path("beside.py").write_text("word = 'hello'\n")
        error, out = self.run_cell(
            "%%muster run -n 2\nimport os, beside\n"
            "print(beside.word, 'from', os.environ['RANK'])\n")
        self.assertIsNone(error, out.getvalue())
        for rank in range(2):
            self.assertIn(f"[rank {rank}] hello from {rank}", out.getvalue())

    def test_output_comes_while_it_runs(self):
        _, out = self.run_cell("%%muster run\nimport time\nprint('early')\n"
                               "time.sleep(3)\nprint('late')\n")
        early, late = (next(at for at, text in out.parts if word in text)
                       for word in ("early", "late"))
        self.assertGreater(late - early, 2)

    def test_a_failure_ends_the_cell_with_one_line(self):
        error, out = self.run_cell(
            "%%muster run --max-restarts 0\nraise SystemExit(7)\n")
        self.assertEqual(error.exit_code, 7)
        self.assertIn("app-exception", out.getvalue())
        self.assertNotIn("_notebook.py", out.getvalue())
        error, _ = self.run_cell("%%muster explain x\nprint(1)\n")
        self.assertIn("%%muster run -n 2", str(error))

    def test_a_line(self):
        error, out = self.run_cell("%muster explain peer-died")
        self.assertIsNone(error)
        self.assertIn("peer-died", out.getvalue())

    def test_an_interrupt_is_passed_on(self):
        threading.Timer(3, os.kill, (os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        error, _ = self.run_cell("%%muster run\nimport time\ntime.sleep(60)\n")
        self.assertEqual(error.exit_code, 130)
        self.assertLess(time.monotonic() - began, 40)


if __name__ == "__main__":
    unittest.main(verbosity=2)
