# SPDX-License-Identifier: Apache-2.0
"""What the tests of the program share: starting it, reading what it left."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

MUSTER = os.environ["MUSTER_BINARY"]
BUILD = pathlib.Path(os.environ["MUSTER_BUILD"])

# What is kept of a test's own surroundings. They may also hold a cluster, a
# cloud, a proxy, and how many threads or which platform a library takes.
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "ASAN_OPTIONS", "LSAN_OPTIONS",
        "TSAN_OPTIONS", "UBSAN_OPTIONS")


def clean_environment(**changes):
    environment = {name: os.environ[name] for name in KEPT
                   if name in os.environ}
    environment.update(changes)
    return environment


def why_no_mounts():
    """Why a command can have no mounts of its own here; "": it can."""
    if not shutil.which("unshare"):
        return "there is no `unshare`"
    done = subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/run"],
        capture_output=True, text=True)
    return "" if done.returncode == 0 else f"no mounts: {done.stderr.strip()}"


def with_mounts(script):
    """What stands before a command that is to see what a script mounts."""
    return ["unshare", "-m", "sh", "-c", f"{script} && exec \"$@\"", "sh"]


given_ports = set()


def free_port():
    """A port that nobody holds; none is given twice."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port not in given_ports:
            given_ports.add(port)
            return port


def listens(port):
    """True while something takes connections at this port of 127.0.0.1."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def alive(pid):
    """True while a process exists and is no zombie."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def wait_until(condition, seconds, what, instead=lambda: ""):
    """The first true value of condition(); fails after `seconds`, and says
    what there is instead()."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.005)
    raise AssertionError(f"not within {seconds} s: {what} {instead()}".rstrip())


class Said:
    """A finished `muster`: its code and its streams."""

    def __init__(self, code, out, err):
        self.code = code
        self.out = out
        self.err = err

    @property
    def all(self):
        return self.out + self.err

    @property
    def json(self):
        return json.loads(self.out)


class Done(Said):
    """One with a folder of its own, and the report in it."""

    def __init__(self, code, out, err, folder):
        super().__init__(code, out, err)
        self.folder = folder

    @property
    def run(self):
        runs = self.folder / "runs"
        return runs / os.readlink(runs / "latest")

    @property
    def report(self):
        return json.loads((self.run / "report.json").read_text())

    @property
    def events(self):
        lines = (self.run / "events.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]


class Running:
    """A `muster` that runs in a folder of its own; what it starts and kills
    leaves its temporary files there."""

    def __init__(self, test, argv, folder, environment=None, prefix=()):
        self.test = test
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.out = open(self.folder / "stdout", "w+")
        self.err = open(self.folder / "stderr", "w+")
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [*prefix, MUSTER, *argv], cwd=folder, stdin=subprocess.DEVNULL,
            stdout=self.out, stderr=self.err,
            env={**(environment or clean_environment()),
                 "TMPDIR": str(self.folder)})
        test.addCleanup(self.close)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.out.close()
        self.err.close()

    def events(self):
        for path in self.folder.glob("runs/*/events.jsonl"):
            if path.parent.is_symlink():
                continue
            for line in path.read_text().splitlines():
                with contextlib.suppress(json.JSONDecodeError):
                    yield json.loads(line)

    def pid_of(self, rank, attempt=1, seconds=30):
        """The pid of a rank, as soon as it was started."""
        def look():
            for event in self.events():
                fields = event["fields"]
                if (event["name"] == "rank.started"
                        and fields.get("rank") == rank
                        and fields.get("attempt") == attempt):
                    return fields["pid"]
            return None
        return wait_until(look, seconds, f"start of rank {rank}")

    def wait(self, seconds=120):
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f"muster still runs after {seconds} s:\n{self.text()}")
        return Done(code, (self.folder / "stdout").read_text(),
                    (self.folder / "stderr").read_text(), self.folder)

    def text(self):
        return ((self.folder / "stdout").read_text()[-3000:]
                + (self.folder / "stderr").read_text()[-3000:])


class MusterTest(unittest.TestCase):
    """A test with a folder of its own that starts `muster`."""

    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="muster-test-"))
        self.addCleanup(shutil.rmtree, self.folder, True)

    def start(self, *argv, folder=None, **environment):
        return Running(self, [str(arg) for arg in argv],
                       folder or self.folder, clean_environment(**environment))

    def muster(self, *argv, seconds=120, folder=None, **environment):
        return self.start(*argv, folder=folder, **environment).wait(seconds)

    def program_of_all(self):
        """A copy of `muster` that every user may run; the folder is open to
        all, and so are those that are made in it from here on."""
        self.addCleanup(os.umask, os.umask(0o022))
        self.folder.chmod(0o755)
        program = self.folder / "muster"
        shutil.copyfile(MUSTER, program)
        program.chmod(0o755)
        return program

    def assert_finding(self, done, cause):
        """The report's first finding has this cause; the finding."""
        findings = done.report["findings"]
        self.assertTrue(findings, done.err)
        self.assertEqual(findings[0]["cause"], cause, done.err)
        return findings[0]
