# SPDX-License-Identifier: Apache-2.0
"""The functions of the Python package, under the interpreter that runs this and
with the package that it imports. Run by wheel_test.py, of all there are."""
import contextlib
import dataclasses
import io
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import muster
from muster import _program


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        self.folder = pathlib.Path(folder.name)
        os.chdir(self.folder)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name


class Step(WithFolder):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.environ.pop, "MUSTER_PROGRESS", None)

    def listen(self, kind, path=None):
        path = path or str(self.folder / "socket")
        end = socket.socket(socket.AF_UNIX, kind)
        self.addCleanup(end.close)
        end.bind("\0" + path[1:] if path[0] == "@" else path)
        end.settimeout(5)
        os.environ["MUSTER_PROGRESS"] = path
        return end

    def test_a_datagram_is_a_line(self):
        end = self.listen(socket.SOCK_DGRAM)
        muster.step(7, loss=0.25)
        self.assertEqual(end.recv(999), b"step=7 loss=0.25\n")
        muster.step(8)
        self.assertEqual(end.recv(999), b"step=8\n")
        muster.step(9, loss=float("nan"), rate=12)
        self.assertEqual(end.recv(999), b"step=9 loss=nan rate=12.0\n")

    def test_an_abstract_name(self):
        end = self.listen(socket.SOCK_DGRAM, f"@muster-test-{os.getpid()}")
        muster.step(1)
        self.assertEqual(end.recv(999), b"step=1\n")

    def test_a_stream_has_the_same_lines(self):
        end = self.listen(socket.SOCK_STREAM)
        end.listen(1)
        muster.step(1, 0.5)
        muster.step(2, 0.25)
        reader, _ = end.accept()
        self.addCleanup(reader.close)
        reader.settimeout(5)
        self.assertEqual(reader.recv(999),
                         b"step=1 loss=0.5\nstep=2 loss=0.25\n")

    def test_without_muster_nothing_is_touched(self):
        class Loss:
            def __float__(self):
                raise AssertionError("asked for the loss")
        os.environ.pop("MUSTER_PROGRESS", None)
        muster.step(1, loss=Loss())

    def test_it_never_raises(self):
        os.environ["MUSTER_PROGRESS"] = "/nowhere/socket"
        muster.step(1)
        os.environ["MUSTER_PROGRESS"] = "x" * 500
        muster.step(1)
        end = self.listen(socket.SOCK_DGRAM)
        muster.step("no number", loss="nor this")
        muster.step(2)
        self.assertEqual(end.recv(999), b"step=2\n")
        end.close()
        muster.step(3)

    def test_it_finds_a_socket_that_came_later(self):
        path = self.folder / "socket"
        os.environ["MUSTER_PROGRESS"] = str(path)
        muster.step(1)
        end = self.listen(socket.SOCK_DGRAM)
        muster.step(2)
        self.assertEqual(end.recv(999), b"step=2\n")
        end.close()
        path.unlink()
        muster.step(3)
        end = self.listen(socket.SOCK_DGRAM)
        muster.step(4)
        self.assertEqual(end.recv(999), b"step=4\n")

    def test_it_never_blocks(self):
        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
            with self.subTest(kind=kind):
                end = self.listen(kind, str(self.folder / kind.name))
                if kind == socket.SOCK_STREAM:
                    end.listen(1)
                began = time.monotonic()
                for n in range(20000):
                    muster.step(n, loss=1.0)
                self.assertLess(time.monotonic() - began, 20)


class Run(WithFolder):
    def test_the_exit_code_is_that_of_the_run(self):
        self.assertEqual(muster.run(["-n", "2", "--", "true"]), 0)
        self.assertEqual(muster.run(["--", "sh", "-c", "exit 7"],
                                    check=False), 7)
        with self.assertRaises(muster.RunFailed) as caught:
            muster.run(["--max-restarts", "0", "--", "sh", "-c", "exit 7"])
        self.assertEqual(caught.exception.exit_code, 7)
        self.assertIsInstance(caught.exception, muster.MusterError)
        self.assertIn("exit code 7", str(caught.exception))

    def test_output_goes_where_that_of_python_goes(self):
        self.write("rank.py", "print('here is', __file__)")
        with contextlib.redirect_stdout(io.StringIO()) as text:
            muster.run(["-n", "2", "--", sys.executable, "rank.py"])
        self.assertIn("[rank 1] here is ", text.getvalue())


class Explain(WithFolder):
    def test_the_finding_is_a_value(self):
        self.write("train.log", "Traceback (most recent call last):\n"
                   "OSError: [Errno 28] No space left on device\n")
        finding = muster.explain("train.log")
        self.assertEqual(finding.cause, "disk-full")
        self.assertEqual(finding.severity, "error")
        self.assertIsInstance(finding.evidence[0], muster.Evidence)
        self.assertEqual(finding.evidence[0].source, "train.log:2")
        self.assertIn("df -h PATH", [fix.command for fix in finding.fixes])
        self.assertIn("disk-full", str(finding))
        with self.assertRaises(dataclasses.FrozenInstanceError):
            finding.cause = "another"
        hash(finding)

    def test_nothing_failed(self):
        self.write("train.log", "step 1: loss 0.5\n")
        self.assertIsNone(muster.explain(self.folder / "train.log"))

    def test_unknown_is_no_answer(self):
        self.write("train.log", "Traceback (most recent call last):\n"
                   "  File \"a.py\", line 3, in <module>\n"
                   "foo.Weird: something odd\n")
        with self.assertRaises(muster.UnknownCause) as caught:
            muster.explain("train.log")
        self.assertIsInstance(caught.exception.candidates[0],
                              muster.Candidate)

    def test_what_cannot_be_read_is_named(self):
        with self.assertRaisesRegex(muster.MusterError, "file-missing"):
            muster.explain("none.log")

    def test_the_exit_status_is_a_witness(self):
        self.write("train.log", "Killed\n")
        self.assertEqual(muster.explain("train.log", exit_status=137).cause,
                         "oom-host")


class Program(WithFolder):
    def test_an_older_or_another_c_library_is_named(self):
        self.assertIsNone(_program.obstacle("glibc 2.35"))
        self.assertIsNone(_program.obstacle("glibc 2.41"))
        self.assertIsNone(_program.obstacle("glibc 3.0"))
        self.assertEqual(_program.obstacle("glibc 2.31"),
                         "muster needs glibc 2.35, this system has 2.31")
        for other in (None, "", "musl 1.2", "glibc"):
            self.assertEqual(
                _program.obstacle(other),
                "muster needs glibc 2.35, this system has another C library")
        self.assertIsNone(_program.obstacle(_program.c_library()))

    def test_an_older_one_ends_the_launcher(self):
        done = subprocess.run(
            [sys.executable, "-c", "from muster import _program as p\n"
             "p.c_library = lambda: 'glibc 2.31'\np.main()"],
            stderr=subprocess.PIPE, universal_newlines=True, check=False)
        self.assertEqual(done.returncode, 126)
        self.assertEqual(done.stderr, "muster: muster needs glibc 2.35, this "
                                      "system has 2.31\n")

    def test_a_package_without_its_program_is_named(self):
        shutil.copytree(pathlib.Path(muster.__file__).parent, "muster",
                        ignore=shutil.ignore_patterns("bin"))
        done = subprocess.run(
            [sys.executable, "-m", "muster"], check=False, cwd=self.folder,
            stderr=subprocess.PIPE, universal_newlines=True)
        self.assertEqual(done.returncode, 126)
        self.assertIn("is no program: install the wheel again", done.stderr)

    def test_it_becomes_the_program(self):
        # SIGPIPE, which Python ignores, ends a rank as anywhere.
        done = subprocess.run(
            [sys.executable, "-m", "muster", "run", "--max-restarts", "0",
             "--", "sh", "-c", "kill -PIPE $$; exit 3"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            universal_newlines=True, check=False)
        self.assertIn("SIGPIPE", done.stdout)
        self.assertEqual(done.returncode, 128 + 13)

    def test_a_signal_is_for_the_program(self):
        with subprocess.Popen(
                [sys.executable, "-m", "muster", "run", "--", "sh", "-c",
                 "echo started; sleep 60"], stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, universal_newlines=True) as child:
            self.assertIn("started", child.stdout.readline())
            executable = os.readlink(f"/proc/{child.pid}/exe")
            self.assertTrue(executable.endswith("muster/bin/muster"),
                            executable)
            child.terminate()
            self.assertIn(child.wait(30), (75, 143, 130))


class Surface(unittest.TestCase):
    def test_every_name_is_there(self):
        for name in muster.__all__:
            self.assertTrue(callable(getattr(muster, name)), name)
        with self.assertRaises(AttributeError):
            muster.nothing  # pylint: disable=pointless-statement
        self.assertRegex(muster.__version__, r"^\d+\.\d+\.\d+$")

    def test_importing_it_costs_little(self):
        text = subprocess.run(
            [sys.executable, "-c", "import sys; before = set(sys.modules); "
             "import muster; print(*sorted(set(sys.modules) - before))"],
            stdout=subprocess.PIPE, universal_newlines=True,
            check=True).stdout.split()
        self.assertEqual([name for name in text
                          if not name.startswith(("muster", "__future__"))], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
