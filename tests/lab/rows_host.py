# SPDX-License-Identifier: Apache-2.0
"""Rows: limits, clocks, signals, the guardian, and what a host lacks."""
import gzip
import io
import os
import pathlib
import re
import shutil
import signal
import tarfile
import time

import attack_kills
import victim
from attack_rows import (NOBODY, SLEEP, Skipped, as_nobody, ending, hangs,
                         row)

GRACE = 2
# What an end may take beyond the grace.
BEYOND = 5
# Of the processor, for one archive.
CPU_LIMIT = 60


def prlimit(what, value):
    return ["prlimit", f"--{what}={value}"]


def judged_limits(runs):
    """(name, run, value, command): each ends well, or names its limit."""
    bad, well = [], 0
    for name, run, value, command in runs:
        said = run.err()
        if not hangs(run) and run.process.returncode == 0:
            well += 1
        elif (hangs(run) or "os-limit" not in said or "error[net-port-in-use]" in said
              or command not in said
              or not re.search(rf"\b{value}\b", said)):
            bad.append(f"{name}: {ending(run)[:120]}")
    return (f"{well} of {len(runs)} end 0, {len(runs) - well - len(bad)} name "
            "their limit" + "".join(f"; {one}" for one in bad)), not bad


@row("open files, 8 to 64 and 256, with 2 to 128 ranks")
def open_files(scene):
    pairs = [(limit, 2) for limit in (8, 10, 12, 16, 20, 24, 32, 48, 64)]
    pairs += [(12, 16), (32, 16), (64, 64), (32, 64), (64, 128), (256, 128)]
    return judged_limits([
        (f"{limit} files, {ranks} ranks",
         scene.ended_ranks(ranks, "true", before=prlimit("nofile", limit),
                           name=f"n{limit}-{ranks}"), limit, "ulimit -n")
        for limit, ranks in pairs])


@row("processes, 2 to 12 as nobody, 4 ranks")
def processes(scene):
    if os.geteuid() != 0:
        raise Skipped("needs root")
    os.chown(scene.folder, NOBODY, NOBODY)
    runs = []
    for limit in (2, 3, 4, 5, 6, 8, 12):
        folder = scene.folder / f"u{limit}"
        folder.mkdir()
        os.chown(folder, NOBODY, NOBODY)
        runs.append((f"{limit} processes", scene.ended_ranks(
            4, "sleep", "1", name=folder.name,
            before=[*prlimit("nproc", limit), *as_nobody()]),
            limit, "ulimit -u"))
    return judged_limits(runs)


@row("address space, 64 MiB to 1 GiB, 4 ranks")
def memory(scene):
    return judged_limits([
        (f"{size} MiB", scene.ended_ranks(
            4, "true", name=f"v{size}", before=prlimit("as", size << 20)),
         size << 10, "ulimit -v") for size in (64, 128, 256, 512, 1024)])


@row("address space, 8 GiB, two ranks that train")
def memory_of_training(scene):
    with victim.train(scene.program, scene.trainer, scene.folder,
                      scene.folder / "checkpoints",
                      before=prlimit("as", 8 << 30)) as run:
        run.wait()
    return judged_limits([("8 GiB", run, 8 << 20, "ulimit -v")])


def pipe_with(scene, name, argv, path, make=os.mkfifo, **options):
    """A command for which a path is not the file it is to be."""
    folder = scene.folder / name
    folder.mkdir()
    make(folder / path)
    return name, scene.ended(*argv, name=name, seconds=30, **options)


def judged_pipes(runs):
    bad = [f"{name}: {ending(run)[:140]}" for name, run in runs
           if hangs(run) or "internal-error" in run.err()]
    return f"{len(runs) - len(bad)} of {len(runs)} end in time" + "".join(
        f"; {one}" for one in bad), not bad


def zero(path):
    path.symlink_to("/dev/zero")


KINDS = {"pipe": os.mkfifo, "zero": zero}


@row("pipe or /dev/zero as token, cluster, host file, credentials, runs")
def pipes_as_settings(scene):
    true = ["--check", "off", "--", "true"]
    offline = ["unshare", "-n"] if os.geteuid() == 0 else []
    runs = []
    for kind, make in KINDS.items():
        def attack(what, argv, path="f", **options):
            runs.append(pipe_with(scene, f"{what} {kind}", argv, path, make,
                                  before=offline, **options))

        attack("token", ["run", "-n", "1", "--token-file", "f", *true])
        attack("cluster", ["run", "--cluster", "f", *true])
        attack("host file", ["run", "--hostfile", "f", *true])
        attack("program", ["run", "-n", "1", "--check", "off", "--", "./f"])
        attack("runs", ["run", "-n", "1", "--runs-dir", "f", *true])
        attack("lock of runs", ["run", "-n", "1", "--runs-dir", ".", *true],
               ".lock")
        attack("credentials", ["tpu", "auth"],
               GOOGLE_APPLICATION_CREDENTIALS="f")
        attack("plug-in", ["check", "program", "f", "--plugin", "f"])
        attack("graph", ["check", "program", "f", "--on", "v5e:2x4"])
        attack("archive", ["bundle", ".", "--archive", "f"])
    return judged_pipes(runs)


@row("pipe, socket or /dev/zero as log in a folder, explain and bundle")
def pipes_in_folder(scene):
    runs = []
    for kind, make in KINDS.items():
        for command in ("explain", "bundle"):
            runs.append(pipe_with(scene, f"{command} {kind}", [command, "."],
                                  "x.log", make))
    return judged_pipes(runs)


@row("pipe without a writer, named by the user, explain")
def pipe_explained(scene):
    return judged_pipes([("explain", pipe_named(scene, "explain"))])


@row("pipe without a writer, named by the user, bundle")
def pipe_bundled(scene):
    return judged_pipes([("bundle", pipe_named(scene, "bundle"))])


def pipe_named(scene, command):
    os.mkfifo(scene.folder / "f")
    return scene.ended(command, "f", seconds=75)


@row("/dev/zero, named by the user, explain and bundle")
def zero_named(scene):
    return judged_pipes([
        (command, scene.ended(command, "/dev/zero", name=command, seconds=30))
        for command in ("explain", "bundle")])


@row("pipe as data file and as lock of the checkpoints")
def pipes_of_training(scene):
    runs = []
    for name, path in (("data", "train-images-idx3-ubyte.gz"),
                       ("checkpoints", ".lock")):
        folder = scene.folder / name
        folder.mkdir()
        os.mkfifo(folder / path)
        runs.append((name, scene.ended_ranks(
            2, scene.trainer, "--epochs", "1", f"--{name}", folder,
            name=f"run-{name}", seconds=30)))
    return judged_pipes(runs)


def healed_or_true(run):
    """A run whose guardian is gone: restarted, or ended with the cause."""
    gone = run.gone()
    text = ending(run) + ("" if gone is not None else f", {run.left_text()}")
    return text, not hangs(run) and gone is not None and (
        run.process.returncode == 0 or (
            run.process.returncode not in (2, 125, 126, 127)
            and run.cause() not in (None, "internal-error")))


@row("guardian killed by a rank, kill -9 $PPID")
def guardian_killed_by_rank(scene):
    script = '[ -e done ] && exit 0; touch done; kill -9 $PPID; sleep 60'
    with scene.ranks(2, "sh", "-c", script) as run:
        run.wait()
        return healed_or_true(run)


def stubborn(scene, name):
    return scene.ranks(2, "python3", "-c", attack_kills.STUBBORN, "2",
                       flags=("--grace", f"{GRACE}s"), name=name)


def killed_with(scene, kill, trials):
    """Stubborn ranks whose guardian, or more, is killed."""
    left = wrong = 0
    for number in range(trials):
        with stubborn(scene, f"run{number}") as run:
            guardian = run.guardian()
            time.sleep(0.5 + number / 10)
            kill(run, guardian)
            run.wait()
            left += run.gone() is None
            wrong += run.process.returncode != -signal.SIGKILL and (
                not healed_or_true(run)[1])
    return f"{left} of {trials} leave a process, {wrong} end wrongly", not (
        left or wrong)


@row("guardian killed, ranks fork themselves again and again")
def guardian_killed(scene):
    return killed_with(scene, lambda run, guardian: victim.kill(guardian), 8)


@row("guardian and muster killed, ranks fork themselves again and again")
def both_killed(scene):
    def kill(run, guardian):
        victim.kill(guardian)
        victim.kill(run.pid)
    return killed_with(scene, kill, 4)


def stopped_guardian(scene, *signals):
    """Whether all ends although the guardian does nothing."""
    with scene.ranks(2, "sh", "-c", "sleep 600 & sleep 600",
                     flags=("--grace", f"{GRACE}s")) as run:
        guardian = run.guardian()
        run.pid_of(1)
        victim.kill(guardian, signal.SIGSTOP)
        began = time.monotonic()
        for number in signals:
            victim.kill(run.pid, number)
            time.sleep(0.3)
        code = run.wait(GRACE + BEYOND + 3)
        gone = run.gone(2)
        seconds = time.monotonic() - began
        text = (f"{ending(run)}, after {seconds:.1f} s" if code is not None
                else f"hangs {seconds:.0f} s")
        if gone is None:
            text += f", {run.left_text()}"
        victim.kill(guardian, signal.SIGCONT)
        return text, gone is not None and seconds < GRACE + BEYOND + 1 and (
            code in (130, -signal.SIGKILL))


for _name, _signals in {
        "Ctrl-C": (signal.SIGINT,), "TERM": (signal.SIGTERM,),
        "Ctrl-C twice": (signal.SIGINT,) * 2,
        "kill -9 of muster": (signal.SIGKILL,)}.items():
    row(f"guardian stopped, {_name}")(
        lambda scene, signals=_signals: stopped_guardian(scene, *signals))


def stopped_rank(run, seconds=40):
    """Seconds until a rank that is stopped is named."""
    pid = run.pid_of(1)
    victim.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    said = victim.until(lambda: "stopped" in run.err()
                        or "state T" in run.err(), seconds)
    took = time.monotonic() - began
    line = next((one for one in run.err().splitlines()
                 if "stopped" in one or "state T" in one), run.last())
    return (f"named after {took:.1f} s: {line.strip()[:140]}" if said else
            f"not named in {took:.0f} s"), bool(said) and took < 6


@row("rank stopped before its first step, --progress-timeout 5s")
def rank_stopped(scene):
    with victim.train(scene.program, scene.trainer, scene.folder,
                      scene.folder / "checkpoints", "--progress-timeout",
                      "5s") as run:
        text, good = stopped_rank(run)
        if good:
            run.wait()
            text += f"; {ending(run)}"
        return text, good and run.process.returncode == 0


@row("rank without libmuster stopped at its start")
def rank_stopped_plain(scene):
    with scene.ranks(2, *SLEEP, flags=("--progress-timeout", "5s")) as run:
        return stopped_rank(run, 20)


@row("archive that unpacks to 16 GiB, explain")
def archive_bomb(scene):
    inner = io.BytesIO()
    with gzip.GzipFile(fileobj=inner, mode="wb") as out:
        block = b"step 1 loss 2.0\n" * 65536
        for _ in range(256):
            out.write(block)
    once = gzip.compress(inner.getvalue())
    with tarfile.open(scene.folder / "bomb.tar.gz", "w:gz") as tar:
        for number in range(64):
            member = tarfile.TarInfo(f"rank{number}.log.gz.gz")
            member.size = len(once)
            tar.addfile(member, io.BytesIO(once))
    size = (scene.folder / "bomb.tar.gz").stat().st_size
    with scene.muster("explain", "bomb.tar.gz") as run:
        spent, end = 0, time.monotonic() + 400
        while (run.wait(0.2) is None and spent < CPU_LIMIT + 10
               and time.monotonic() < end):
            spent = victim.spent_by(run.pid)
    if hangs(run):
        # On a loaded machine it may not have had its time.
        return f"{size:,} bytes: not done after {spent:.0f} s of CPU", (
            None if spent < CPU_LIMIT else False)
    said = [line for line in (run.err() + run.out()).splitlines()
            if "time" in line or "CPU" in line]
    text = (f"{size:,} bytes: {run.cpu:.0f} s of CPU, {run.peak} MiB, exit "
            f"{run.process.returncode}, "
            + (said[0].strip()[:140] if said else "no limit is named"))
    return text, run.cpu < CPU_LIMIT + 6 and (bool(said) or (
        run.cpu < CPU_LIMIT - 5))


DAYS = 400 * 24 * 3600


def clock_step(scene, ahead):
    source = pathlib.Path(__file__).parent / "clock.c"
    library = scene.compiled(source.read_text(), "clock.so")
    at = int(time.clock_gettime(time.CLOCK_MONOTONIC)) + 2
    run = scene.ended_ranks(2, "sleep", "4", LD_PRELOAD=str(library),
                            LAB_CLOCK_AHEAD=str(ahead), LAB_CLOCK_FROM=str(at))
    report = run.report()
    durations = {"duration_s": report["duration_s"],
                 "time.total_s": report["time"]["total_s"]}
    bad = {name: value for name, value in durations.items()
           if not 3.5 < value < 20}
    bad |= {f"time.{name}": value for name, value in report["time"].items()
            if not -0.001 <= value < 20}
    return f"exit {run.process.returncode}, durations {durations}" + (
        f", wrong {bad}" if bad else ""), not bad and (
            run.process.returncode == 0)


row("wall clock steps 400 days ahead in a run")(
    lambda scene: clock_step(scene, DAYS))
row("wall clock steps 400 days back in a run")(
    lambda scene: clock_step(scene, -DAYS))


def without(scene, mounts, name):
    """A rank that leaves a child, where folders of the kernel are hidden."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        raise Skipped("needs root and unshare")
    hide = " && ".join(f"mount -t tmpfs none {mount}" for mount in mounts)
    with scene.ranks(1, "sh", "-c", "setsid sleep 600 & exit 0", name=name,
                     flags=("--grace", f"{GRACE}s"),
                     before=["unshare", "-m", *victim.limited(hide)]) as run:
        run.wait()
        seconds = run.seconds
        gone = run.gone()
        text = f"{ending(run)}, after {seconds:.1f} s" + (
            "" if gone is not None else f", {run.left_text()}")
        return text, gone is not None and run.process.returncode == 0 and (
            seconds < GRACE + BEYOND)


row("no /proc, a rank leaves a child")(
    lambda scene: without(scene, ["/proc"], "proc"))
row("no /proc and /sys, a rank leaves a child")(
    lambda scene: without(scene, ["/proc", "/sys"], "sys"))
row("nothing is hidden, a rank leaves a child")(
    lambda scene: without(scene, ["/mnt"], "all"))
