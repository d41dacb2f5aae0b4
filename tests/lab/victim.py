# SPDX-License-Identifier: Apache-2.0
"""Programs that are attacked: each starts in a session of its own, with a
variable of random value, by which all that comes from it is found and ended."""
import contextlib
import hashlib
import json
import os
import pathlib
import re
import resource
import secrets
import shutil
import signal
import subprocess
import tempfile
import time

MARK = "LAB_ATTACK"
KEPT = ("PATH", "HOME", "LANG", "TMPDIR")
# A run that has not ended by then hangs.
DEADLINE = 60
# How long what a run started may live on.
LEFT = 5
PREFIX = "mulab-attack"


def stat_of(pid):
    """(name, state, parent, session) of a process; None: it is gone."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    name, _, rest = text.partition("(")[2].rpartition(")")
    state, parent, _, session = rest.split()[:4]
    return name, state, int(parent), int(session)


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def peak_of(pid):
    """The most memory that it held, in MiB."""
    with contextlib.suppress(OSError):
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        if found := re.search(r"VmHWM:\s+(\d+) kB", status):
            return int(found[1]) >> 10
    return 0


def spent_by(pid):
    """Seconds of the processor that it took; 0: it is gone."""
    with contextlib.suppress(OSError):
        text = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace")
        return sum(map(int, text.rpartition(")")[2].split()[11:13])) / (
            os.sysconf("SC_CLK_TCK"))
    return 0


def children_of(parent):
    return [pid for pid in pids()
            if (stat := stat_of(pid)) and stat[2] == parent and stat[1] != "Z"]


def has_mark(pid, mark):
    try:
        environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
    return f"{MARK}={mark}".encode() in environment


def kill(pid, number=signal.SIGKILL):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def until(condition, seconds, pause=0.01):
    """The first true value of condition() within `seconds`, or its last."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(pause)


def limited(script):
    """What stands before a command that a shell first sets limits for."""
    return ["sh", "-c", f'{script} && exec "$@"', "sh"]


class Victim:
    """One command in a folder. Leaves nothing behind: use it in a `with`."""

    def __init__(self, argv, folder, *, before=(), stdout=None, stderr=None,
                 stdin=subprocess.DEVNULL, **environment):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.mark = secrets.token_hex(8)
        variables = {name: os.environ[name] for name in KEPT
                     if name in os.environ}
        variables |= environment | {MARK: self.mark}
        self.files = []
        self.used = None
        self.peak = 0
        self.began = time.monotonic()
        self.ended = None
        self.process = subprocess.Popen(
            [*before, *argv], cwd=self.folder, stdin=stdin,
            stdout=self.file("stdout") if stdout is None else stdout,
            stderr=self.file("stderr") if stderr is None else stderr,
            env=variables, start_new_session=True)
        self.pid = self.process.pid

    def file(self, name):
        self.files.append(open(self.folder / name, "wb"))
        return self.files[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # A process that forks itself all the time needs several sweeps.
        self.ended = self.ended or time.monotonic()
        end = time.monotonic() + 20
        while (left := self.left(True)) and time.monotonic() < end:
            for pid in left:
                kill(pid)
        self.process.wait()
        for file in self.files:
            file.close()

    def left(self, itself=False):
        """What runs of it, but the command itself."""
        return [pid for pid in pids()
                if (itself or pid != self.pid) and has_mark(pid, self.mark)]

    def gone(self, seconds=LEFT):
        """Seconds until nothing of it runs; None: something still does."""
        began = time.monotonic()
        if until(lambda: not self.left(), seconds):
            return time.monotonic() - began
        return None

    def left_text(self):
        names = [stat_of(pid) for pid in self.left()]
        return f"{len(names)} left: " + ", ".join(
            sorted({f"{name[0]} ({name[1]})" for name in names if name}))

    def wait(self, seconds=DEADLINE):
        """The code; None: it hangs."""
        end = time.monotonic() + seconds
        while self.process.returncode is None:
            # wait4 tells what the processor did, even for what it waited for.
            pid, status, used = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self.used = used
                self.ended = time.monotonic()
                self.process.returncode = os.waitstatus_to_exitcode(status)
                break
            # Of ru_maxrss, the memory of who started it is a part.
            self.peak = max(self.peak, peak_of(self.pid))
            if time.monotonic() > end:
                return None
            else:
                time.sleep(0.005)
        return self.process.returncode

    @property
    def seconds(self):
        return (self.ended or time.monotonic()) - self.began

    @property
    def cpu(self):
        return self.used.ru_utime + self.used.ru_stime

    def out(self):
        return self.read("stdout")

    def err(self):
        return self.read("stderr")

    def read(self, name):
        path = self.folder / name
        return path.read_text(errors="replace") if path.exists() else ""

    def last(self):
        """The last line that names a cause, or just the last."""
        lines = [line for line in self.err().splitlines() if line.strip()]
        named = [line for line in lines if "error" in line]
        return (named or lines or ["nothing is said"])[-1].strip()

    def cause(self):
        """The cause of the end; None: none was named."""
        with contextlib.suppress(OSError, ValueError, KeyError):
            report = self.report()
            if report["exit"]["cause"] or report["exit"]["code"] == 0:
                return report["exit"]["cause"]
        found = re.findall(r"error(?:\[|: )([a-z]+(?:-[a-z]+)+)", self.err())
        return found[-1] if found else None

    def report(self):
        return json.loads((self.run() / "report.json").read_text())

    def run(self):
        return next(path for path in (self.folder / "runs").iterdir()
                    if path.is_dir() and not path.is_symlink())

    def guardian(self, seconds=10):
        """The process below muster that is the parent of the ranks."""
        found = until(lambda: [pid for pid in self.below()
                               if (stat_of(pid) or ("",))[0]
                               == "muster-guardian"],
                      seconds, 0.002)
        return (found or [None])[0]

    def below(self):
        """Warden and guardian, or the guardian alone; and their children."""
        return [pid for child in children_of(self.pid)
                for pid in (child, *children_of(child))]

    def ranks(self):
        """Each leads a session; what they left to the guardian does not."""
        return [pid for parent in self.below()
                if (stat_of(parent) or ("",))[0] == "muster-guardian"
                for pid in children_of(parent)
                if (stat := stat_of(pid)) and stat[3] == pid]

    def pid_of(self, rank, attempt=1, seconds=20):
        def started():
            for path in self.folder.glob("runs/*/events.jsonl"):
                for line in path.read_text(errors="replace").splitlines():
                    with contextlib.suppress(ValueError, KeyError):
                        event = json.loads(line)
                        if (event["name"] == "rank.started"
                                and event["fields"]["rank"] == rank
                                and event["fields"]["attempt"] == attempt):
                            return event["fields"]["pid"]
            return None
        return until(started, seconds)


@contextlib.contextmanager
def folder_of(name):
    """A folder that others may enter, and that is gone afterwards."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{PREFIX}-{name}-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def train(program, trainer, folder, checkpoints, *flags, before=(),
          **environment):
    """Two ranks that train some seconds."""
    return Victim(
        [program, "run", "-n", "2", "--check", "off", *flags, "--", trainer,
         "--epochs", "1", "--every", "50", "--checkpoints", checkpoints],
        folder, before=before, **environment)


def digests(checkpoints):
    """Of each file below, by name; the lock's text is the machine's."""
    found = {}
    for path in sorted(pathlib.Path(checkpoints).rglob("*")):
        if path.name != ".lock" and not path.is_dir():
            found[str(path.relative_to(checkpoints))] = (
                hashlib.sha256(path.read_bytes()).hexdigest()
                if path.is_file() else "no file")
    return found


def newest(checkpoints):
    found = digests(checkpoints)
    last = max((name.split("/")[0] for name in found), default="")
    return {name: digest for name, digest in found.items()
            if name.startswith(last)}


def shared_memory():
    return set(os.listdir("/dev/shm"))


def no_core_files():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
