# SPDX-License-Identifier: Apache-2.0
"""Rows: attacks that muster stood the first time, and has to stand again."""
import gzip
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import tarfile
import time

import victim
from attack_rows import (SLEEP, Skipped, ending, free_ports, hangs, listens,
                         row)

DEAF = "import signal, time\n" + "".join(
    f"signal.signal(signal.{name}, signal.SIG_IGN)\n"
    for name in ("SIGINT", "SIGTERM", "SIGHUP")) + "time.sleep(600)\n"
OBEDIENT = ("sleep", "600")


def judged(seen):
    """(name, run or text, good) of each: the bad ones are shown."""
    bad = [f"{name}: {text if isinstance(text, str) else ending(text)[:120]}"
           for name, text, good in seen if not good]
    return f"{len(seen) - len(bad)} of {len(seen)} good" + "".join(
        f"; {one}" for one in bad), not bad


@row("INT, INT twice, TERM, HUP; obedient and deaf ranks")
def signals(scene):
    seen = []
    for who, command in (("obedient", OBEDIENT),
                         ("deaf", ("python3", "-c", DEAF))):
        for numbers in ((signal.SIGINT,), (signal.SIGINT,) * 2,
                        (signal.SIGTERM,), (signal.SIGHUP,)):
            name = f"{who}-{'-'.join(one.name for one in numbers)}"
            with scene.ranks(2, *command, name=name,
                             flags=("--grace", "2s")) as run:
                run.pid_of(1)
                time.sleep(0.4)
                for number in numbers:
                    victim.kill(run.pid, number)
                    time.sleep(0.2)
                code = run.wait(10)
                gone = run.gone() is not None
                seen.append((name, run, code == 130 and gone))
    return judged(seen)


@row("QUIT, USR1, ALRM, PIPE to muster")
def other_signals(scene):
    seen = []
    for number in (signal.SIGQUIT, signal.SIGUSR1, signal.SIGALRM,
                   signal.SIGPIPE):
        with scene.ranks(2, *SLEEP, name=number.name) as run:
            run.pid_of(1)
            victim.kill(run.pid, number)
            code = run.wait(1 if number == signal.SIGPIPE else 10)
            if number == signal.SIGPIPE:
                seen.append((number.name, run, code is None))
            else:
                seen.append((number.name, run, code == -number
                             and run.gone() is not None))
    return judged(seen)


@row("rank, muster or guardian stopped 3 s, then continued")
def stopped_and_continued(scene):
    seen = []
    for who in ("rank", "muster", "guardian"):
        with scene.ranks(2, "sleep", "5", name=f"of-{who}") as run:
            rank = run.pid_of(1)
            pid = {"rank": rank, "muster": run.pid,
                   "guardian": run.guardian()}[who]
            victim.kill(pid, signal.SIGSTOP)
            time.sleep(3)
            victim.kill(pid, signal.SIGCONT)
            seen.append((who, run, run.wait() == 0))
    return judged(seen)


@row("closed stdin or stderr, no PATH, empty environment, commands that fail")
def surroundings(scene):
    shell = ["sh", "-c"]
    cases = {
        "stdin": ([*shell, 'exec "$@" <&-', "sh"], ("true",), 0),
        "stderr": ([*shell, 'exec "$@" 2>&-', "sh"], ("true",), 0),
        "folder gone": ([*shell, 'mkdir g && cd g && rmdir ../g && exec "$@"',
                         "sh"], ("true",), 125),
        "env -i": (["env", "-i", f"{victim.MARK}=x"], ("/bin/true",), 0),
        "no PATH": (["env", "-u", "PATH"], ("/bin/true",), 0),
        "empty PATH": (["env", "PATH="], ("/bin/true",), 0),
        "folder": ([], (str(scene.folder),), 126),
        "no name": ([], ("",), 127),
        "not executable": ([], ("/etc/passwd",), 126),
        "not there": ([], ("/no/such",), 127),
    }
    seen = []
    for number, (name, (before, command, code)) in enumerate(cases.items()):
        run = scene.ended_ranks(1, *command, before=before, name=f"s{number}")
        seen.append((name, run, run.process.returncode == code))
    return judged(seen)


@row("runs folder on a full, small or read-only disk")
def small_disks(scene):
    if os.geteuid() != 0:
        raise Skipped("needs root")
    (scene.folder / "disk").mkdir()
    seen = []
    for name, mount, code in (
            ("1 MB", "mount -t tmpfs -o size=1m none disk", 0),
            ("read-only", "mount -t tmpfs -o ro none disk", 125),
            ("no inodes", "mount -t tmpfs -o nr_inodes=1 none disk", 125)):
        run = scene.ended_ranks(
            1, "seq", "1", "1000000", flags=("--runs-dir", "disk/runs"),
            before=["unshare", "-m", *victim.limited(mount)])
        lines = run.out().count("\n")
        seen.append((name, f"{ending(run)}, {lines} lines",
                     run.process.returncode == code and (
                         code or (lines == 1_000_000
                                  and "disk-full" in run.err()))))
    return judged(seen)


@row("no /tmp, /dev/shm read-only")
def without_folders(scene):
    if os.geteuid() != 0:
        raise Skipped("needs root")
    seen = []
    for name, mount in (
            ("/tmp", 'mkdir /run/k && mount --bind "$PWD" /run/k && mount -t '
                     "tmpfs -o ro none /tmp && cd /run/k"),
            ("/dev/shm", "mount -t tmpfs -o ro none /dev/shm")):
        program = "./muster" if name == "/tmp" else scene.program
        with victim.Victim(
                [program, "run", "-n", "2", "--check", "off", "--", "true"],
                scene.folder, before=["unshare", "-m", *victim.limited(
                    mount.replace("mkdir /run/k", "mount -t tmpfs none /run && "
                                  "mkdir /run/k"))]) as run:
            run.wait()
        seen.append((name, run, run.process.returncode == 0))
    return judged(seen)


@row("100,000 arguments, 1 MB of environment, 12 x --env of 120 kB")
def large_commands(scene):
    many = scene.ended_ranks(1, "true", *["x"] * 100_000)
    seen = [("arguments", many, many.process.returncode == 0)]
    large = {f"V{number}": "x" * 100_000 for number in range(10)}
    run = scene.ended_ranks(1, "true", **large)
    seen.append(("environment", run, run.process.returncode == 0))
    flags = [part for number in range(12)
             for part in ("--env", f"W{number}=" + "x" * 120_000)]
    run = scene.ended_ranks(1, "true", flags=flags)
    seen.append(("--env", run, run.process.returncode == 0))
    return judged(seen)


@row("256 ranks of true")
def many_ranks(scene):
    run = scene.ended_ranks(256, "true")
    return f"{run.seconds:.1f} s, {ending(run)}", run.process.returncode == 0


@row("64 ranks x 100,000 lines, a line of 1 GB, 40 MB of random bytes")
def output(scene):
    seen = []
    run = scene.ended_ranks(64, "seq", "1", "100000", seconds=240)
    lines = run.out().count("\n")
    seen.append(("64 ranks", f"{ending(run)}, {lines:,} lines",
                 lines == 64 * 100_000 and run.process.returncode == 0))
    run = scene.ended_ranks(1, "sh", "-c", "head -c 1000000000 /dev/zero | "
                            "tr '\\0' x", seconds=120, name="line",
                            stdout=subprocess.DEVNULL)
    log = next(path for path in run.run().glob("logs/**/*") if path.is_file())
    size, memory = log.stat().st_size, run.peak
    seen.append(("line", f"{size:,} bytes, {memory} MiB", memory < 100
                 and 1_000_000_000 <= size <= 1_000_000_001))
    run = scene.ended_ranks(1, "head", "-c", "40000000", "/dev/urandom",
                            name="random", stdout=subprocess.DEVNULL)
    log = next(path for path in run.run().glob("logs/**/*") if path.is_file())
    seen.append(("random", f"{log.stat().st_size:,} bytes",
                 40_000_000 <= log.stat().st_size <= 40_000_001))
    return judged(seen)


@row("rank that daemonises, closes its stdout")
def daemons(scene):
    seen = []
    for name, script in (("daemon", "(setsid sleep 600 &) ; exit 0"),
                         ("closed", "exec >&- 2>&-; sleep 1")):
        with scene.ranks(2, "sh", "-c", script, name=name,
                         flags=("--grace", "1s")) as run:
            code = run.wait()
            seen.append((name, run, code == 0 and run.gone() is not None))
    return judged(seen)


def token(scene, name, text):
    path = scene.folder / name
    path.write_text(text * 4)
    path.chmod(0o600)
    return path


def two_agents(scene, first, second, **options):
    ports = free_ports(2)
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
    argv = ["run", "--hosts", hosts, "--check", "off", "--gather-timeout",
            "10s"]
    with scene.muster(*argv, *first, "--rank", "0", "--", "true",
                      name="a") as one:
        if attack := options.get("attack"):
            victim.until(lambda: listens(ports[0]), 5)
            attack(ports[0])
        began = time.monotonic()
        with scene.muster(*argv, *second, "--rank", "1", "--", "true",
                          name="b") as two:
            two.wait(30)
            one.wait(30)
    return one, two, time.monotonic() - began


@row("wrong token; token 0644; none off loopback")
def tokens(scene):
    good = token(scene, "t", "0123456789")
    other = token(scene, "o", "abcdefghij")
    one, two, _ = two_agents(scene, ("--token-file", good),
                             ("--token-file", other))
    seen = [("wrong", two, two.process.returncode == 125
             and one.process.returncode == 125)]
    held = [str(path) for run in (one, two) for path in run.folder.rglob("*")
            if path.is_file() and b"0123456789" in path.read_bytes()]
    seen.append(("text of the token", f"in {held}", not held))
    good.chmod(0o644)
    run = scene.ended("run", "-n", "1", "--token-file", good, "--", "true")
    seen.append(("0644", run, run.process.returncode in (2, 125)))
    run = scene.ended("run", "--hosts", "192.0.2.7:8476,192.0.2.8:8476",
                      "--rank", "0", "--", "true")
    seen.append(("none", run, run.process.returncode in (2, 125)
                 and run.seconds < 5))
    return judged(seen)


def garbage(port):
    for number in range(300):
        with socket.socket() as one:
            one.settimeout(2)
            if one.connect_ex(("127.0.0.1", port)) == 0 and number % 3:
                try:
                    one.sendall(os.urandom(512))
                except OSError:
                    pass


def idle(port, held):
    for number in range(400):
        held.append(socket.socket())
        held[-1].settimeout(1)
        if held[-1].connect_ex(("127.0.0.1", port)) == 0 and number % 2:
            held[-1].sendall(b"\x16\x03\x01")


@row("coordinator with a token: garbage, 400 idle connections")
def attacked_coordinator(scene):
    flags = ("--token-file", token(scene, "t", "0123456789"))
    held, seen = [], []
    for name, attack in (("garbage", garbage),
                         ("idle", lambda port: idle(port, held))):
        one, two, seconds = two_agents(scene, flags, flags, attack=attack)
        seen.append((name, f"{ending(one)}; {ending(two)}; {seconds:.1f} s",
                     one.process.returncode == 0 and seconds < 15
                     and two.process.returncode == 0))
    for one in held:
        one.close()
    return judged(seen)


@row("agent killed and started again by hand")
def agent_again(scene):
    ports = free_ports(2)
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
    argv = ["run", "--hosts", hosts, "--check", "off", "--grace", "1s"]
    command = ["--", "sh", "-c", f"[ -e {scene.folder}/go ] || sleep 600"]
    with scene.muster(*argv, "--rank", "0", *command, name="a") as one:
        with scene.muster(*argv, "--rank", "1", *command, name="b") as two:
            one.pid_of(1)
            time.sleep(0.5)
            victim.kill(two.pid)
            two.wait()
        (scene.folder / "go").touch()
        with scene.muster(*argv, "--rank", "1", *command, name="c") as again:
            again.wait(60)
            one.wait(60)
    return f"{ending(one)}; {ending(again)}", (
        one.process.returncode == again.process.returncode == 0)


@row("tar with ../, absolute, link, device, pipe; explain")
def tar_members(scene):
    with tarfile.open(scene.folder / "t.tar", "w") as tar:
        for name, kind, link in (
                ("../out", tarfile.REGTYPE, ""), ("/tmp/mulab-abs",
                                                  tarfile.REGTYPE, ""),
                ("link", tarfile.SYMTYPE, "/etc/passwd"),
                ("null", tarfile.CHRTYPE, ""), ("pipe", tarfile.FIFOTYPE, "")):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, link
            data = b"RuntimeError: x\n" if kind == tarfile.REGTYPE else b""
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    run = scene.ended("explain", "t.tar", name="d")
    shutil.copy(scene.folder / "t.tar", scene.folder / "d")
    run = scene.ended("explain", "t.tar", name="d")
    made = [path for path in (scene.folder / "out", "/tmp/mulab-abs")
            if os.path.exists(path)]
    return ending(run), not made and "root:" not in run.out()


@row("hostile files, explain: nested, long lines, deep JSON, sparse")
def hostile_files(scene):
    data = b"x\n"
    for _ in range(100):
        data = gzip.compress(data)
    files = {"deep.gz": data, "line.log": b"x" * 50_000_000,
             "deep.json": b"[" * 200_000,
             "cell.ipynb": b'{"cells": [{"source": "' + b"x" * 20_000_000,
             "zero.log": bytes(10_000_000),
             "half.tar.gz": gzip.compress(os.urandom(100_000))[:50_000]}
    seen = []
    for name, data in files.items():
        (scene.folder / name).write_bytes(data)
    with open(scene.folder / "sparse.log", "wb") as sparse:
        sparse.truncate(2 << 30)
    for name in (*files, "sparse.log"):
        run = scene.ended("explain", name, seconds=120)
        seen.append((name, f"{ending(run)}, {run.peak} MiB", not hangs(run)
                     and run.process.returncode in (0, 3) and run.peak < 400))
    return judged(seen)


@row("hostile values, resolve")
def hostile_values(scene):
    values = {
        "nested": {"TF_CONFIG": '{"cluster":' * 10_000},
        "control": {"TF_CONFIG": '{"\x1b]0;x\x07": 1}'},
        "million": {"MUSTER_HOSTS": ",".join(["a:1"] * 30_000)},
        "size": {"WORLD_SIZE": "1000000000", "RANK": "0",
                 "MASTER_ADDR": "a", "MASTER_PORT": "1"},
        "shell": {"MUSTER_HOSTS": "$(touch pwned),`touch pwned`"},
        "slurm": {"SLURM_NODELIST": "a[0-999999999]", "SLURM_JOB_ID": "1",
                  "SLURM_NTASKS": "2", "SLURM_PROCID": "0"}}
    offline = ["unshare", "-n"] if os.geteuid() == 0 else []
    seen = []
    for name, variables in values.items():
        run = scene.ended("resolve", before=offline, name=name, seconds=20,
                          **variables)
        raw = [one for one in run.out() + run.err()
               if ord(one) < 32 and one != "\n"]
        seen.append((name, run, run.process.returncode in (0, 2) and not raw
                     and not (run.folder / "pwned").exists()))
    (scene.folder / "big.json").write_text(
        json.dumps({"members": ["x" * 1000] * 50_000}))
    run = scene.ended("resolve", "--cluster", "big.json")
    seen.append(("50 MB", run, run.process.returncode == 2))
    return judged(seen)
