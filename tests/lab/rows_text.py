# SPDX-License-Identifier: Apache-2.0
"""Rows: bytes that reach a terminal, a pipe, or a rank."""
import io
import json
import os
import pty
import re
import select
import subprocess
import tarfile
import time

import victim
from attack_rows import ending, free_ports, hangs, listens, row

EVIL = b"b\x1b]0;PWNED\x07\x1b[2J\xc2\x9b31m\xe2\x80\xae.dat"
NO_TEXT = bytes(range(1, 8)) * 100
BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
LINES = 2_000_000


def raw_in(run):
    """Control and bidi characters that came through."""
    text = b"".join((run.folder / name).read_bytes()
                    for name in ("stdout", "stderr")).decode(errors="replace")
    found = {f"U+{ord(one):04X}" for one in text if one in BIDI or
             (ord(one) < 32 and one not in "\n\t") or 127 <= ord(one) < 160}
    return sorted(found)


def judged_raw(run):
    raw = raw_in(run)
    return (f"raw in the output: {', '.join(raw)}" if raw else
            "no control or bidi character"), not raw and not hangs(run)


@row("escapes in a name of an archive, explain")
def explain_archive(scene):
    with tarfile.open(scene.folder / "e.tar", "w") as tar:
        for name, data in ((b"ok.log", b"RuntimeError: x\n"), (EVIL, NO_TEXT)):
            member = tarfile.TarInfo(os.fsdecode(name))
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return judged_raw(scene.ended("explain", "e.tar", name="."))


@row("escapes in a name of a folder, explain")
def explain_folder(scene):
    (scene.folder / "logs").mkdir()
    (scene.folder / "logs" / "ok.log").write_text("RuntimeError: x\n")
    (scene.folder / "logs" / os.fsdecode(EVIL)).write_bytes(NO_TEXT)
    return judged_raw(scene.ended("explain", "logs"))


@row("escapes and bidi overrides in evidence and its file's name, explain")
def explain_evidence(scene):
    path = scene.folder / os.fsdecode(EVIL.replace(b".dat", b".log"))
    path.write_text("Traceback (most recent call last):\n"
                    "RuntimeError: CUDA out of memory \u202e\x1b]0;P\x07\x9b2J "
                    "\x1bPq\x1b\\\n")
    return judged_raw(scene.ended("explain", path.name))


@row("escapes in a name of an archive, bundle")
def bundle_folder(scene):
    (scene.folder / "logs").mkdir()
    (scene.folder / "logs" / os.fsdecode(EVIL)).write_bytes(b"text\n")
    return judged_raw(scene.ended("bundle", "logs"))


@row("escapes in a wrong flag, path and host")
def escapes_in_flags(scene):
    evil, seen, good = os.fsdecode(EVIL), [], True
    for argv in (["run", "--" + evil], ["explain", evil], ["bundle", evil],
                 ["check", "--hosts", evil], ["run", "--", evil],
                 ["run", "--cluster", evil, "--", "true"]):
        text, fine = judged_raw(scene.ended(*argv, name=argv[0] + argv[1][:5]))
        good = good and fine
        if not fine:
            seen.append(f"{argv[0]} {argv[1][:9]!r}: {text}")
    return "; ".join(seen) or "no control or bidi character", good


TITLE, COLOR = b"\x1b]0;PWNED\x07", b"\x1b[31mred\x1b[0m"
HOSTILE = (TITLE, b"\x1b]52;c;cm0=\x07", b"\x1b[c", b"\x1b[6n",
           b"\x1bP$qm\x1b\\", b"\xc2\x9bc")


def on_terminal(scene, *flags):
    """What a terminal gets of a rank that prints all of it."""
    master, slave = pty.openpty()
    script = scene.folder / "print.py"
    script.write_text("import sys\nsys.stdout.buffer.write("
                      f"{b'x'.join([*HOSTILE, COLOR]) + bytes([10])!r})\n")
    with scene.ranks(1, "python3", str(script), flags=flags,
                     name="run" + "".join(flags), stdout=slave,
                     TERM="xterm") as run:
        os.close(slave)
        seen, end = b"", time.monotonic() + 30
        while time.monotonic() < end:
            if select.select([master], [], [], 0.1)[0]:
                try:
                    seen += os.read(master, 65536)
                except OSError:
                    break
            elif run.wait(0) is not None:
                break
        run.wait(10)
    os.close(master)
    return seen, run


@row("title, clipboard, queries of a rank on a terminal")
def rank_on_terminal(scene):
    seen, _ = on_terminal(scene)
    through = [repr(one)[1:] for one in HOSTILE if one in seen]
    unfiltered, run = on_terminal(scene, "--raw")
    text = (f"through: {', '.join(through)}" if through else "filtered") + (
        "" if COLOR in seen else ", color is lost") + (
        ", --raw passes all" if all(one in unfiltered for one in HOSTILE)
        else f", --raw: {run.last()[:90]}")
    piped = scene.ended_ranks(1, "python3", scene.folder / "print.py",
                              name="piped")
    same = all(one in (piped.folder / "stdout").read_bytes()
               for one in HOSTILE)
    return (text + (", a pipe gets all" if same else ", a pipe loses some"),
            not through and COLOR in seen and same
            and all(one in unfiltered for one in HOSTILE))


BYTES = b"caf\xe9 \xff\xfe"


def expected(run, wanted, count=1):
    out = (run.folder / "stdout").read_bytes()
    good = run.process.returncode == 0 and out.count(wanted) == count
    return ("the rank gets the bytes, exit 0" if good else
            f"{ending(run)}; printed {out[:60]!r}"), good


@row("argv that is not UTF-8")
def argv_bytes(scene):
    return expected(scene.ended_ranks(1, "printf", "%s", BYTES), BYTES)


@row("--env that is not UTF-8")
def env_bytes(scene):
    return expected(scene.ended_ranks(
        1, "sh", "-c", 'printf %s "$V"', flags=("--env", b"V=" + BYTES)), BYTES)


@row("inherited environment that is not UTF-8")
def inherited_bytes(scene):
    return expected(scene.ended_ranks(
        1, "sh", "-c", 'printf %s "$V"', V=os.fsdecode(BYTES)), BYTES)


@row("argv and --env that are not UTF-8, two agents")
def agents_bytes(scene):
    ports = free_ports(2)
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
    argv = ["run", "--hosts", hosts, "--check", "off", "--env", b"V=" + BYTES]
    command = ["--", "sh", "-c", 'printf "%s\\n" "$0$V"', BYTES]
    with scene.muster(*argv, "--rank", "0", *command, name="a") as first:
        with scene.muster(*argv, "--rank", "1", *command, name="b") as second:
            second.wait()
            first.wait()
    texts = [expected(run, BYTES + BYTES) for run in (first, second)]
    return "; ".join(text for text, _ in texts), all(good for _, good in texts)


@row("folder, runs and program whose paths are not UTF-8")
def path_bytes(scene):
    name = os.fsdecode(b"d\xe9")
    (scene.folder / name).mkdir()
    program = scene.folder / name / os.fsdecode(b"p\xff")
    program.write_text("#!/bin/sh\nprintf '%s\\n' \"$0\"\n")
    program.chmod(0o755)
    runs = os.fsdecode(b"runs\xe9")
    run = scene.ended_ranks(1, str(program), name=name,
                            flags=("--runs-dir", runs))
    text, good = expected(run, os.fsencode(program))
    folder = scene.folder / name / runs
    for report in folder.glob("*/report.json"):
        json.loads(report.read_bytes().decode("utf-8"))
    for argv in (["explain", runs], ["bundle", runs + "/latest"]):
        run = scene.ended(*argv, name=name)
        if run.process.returncode not in (0, 3):
            text, good = text + f"; {argv[0]}: {ending(run)}", False
    return text, good


@row("flags, variables and paths that are not UTF-8, every command")
def flag_bytes(scene):
    evil, seen = os.fsdecode(b"\xe9\xff"), []
    commands = [
        ["run", "-n", evil, "--", "true"], ["run", "--" + evil],
        ["run", "--env", evil, "--", "true"], ["run", "--", evil],
        ["run", "--hosts", evil, "--", "true"],
        ["run", "--cluster", evil, "--", "true"],
        ["run", "--token-file", evil, "--", "true"],
        ["run", "-n", "1", "--dry-run", "--", evil],
        ["run", "-n", "1", "--dry-run", "--output", "json", "--", evil],
        ["explain", evil], ["explain", "--note", evil], [evil],
        ["explain", "--note", evil, "--output", "json"],
        ["explain", "--rank-from", evil, "x"], ["bundle", evil],
        ["check", "--hosts", evil, "--output", "json"],
        ["check", "--target", evil], ["check", "program", evil],
        ["check", "fit", "--params", evil], ["resolve", "--hostfile", evil],
        ["resolve", "--require", evil + "==1", "--output", "json"],
        ["resolve", "--source", evil], ["tpu", "describe", evil]]
    offline = ["unshare", "-n"] if os.geteuid() == 0 else []
    for number, argv in enumerate(commands):
        run = scene.ended(*argv, name=f"flag{number}", before=offline)
        judge_bytes(" ".join(argv), run, seen)
    for name in ("TF_CONFIG", "MUSTER_HOSTS", "WORLD_SIZE", "MUSTER_OUTPUT",
                 "SLURM_NODELIST", "TPU_WORKER_HOSTNAMES"):
        for form in ("text", "json"):
            run = scene.ended("resolve", "--output", form,
                              name=name + form, before=offline, **{name: evil})
            judge_bytes(name, run, seen)
    return "; ".join(seen) or "no internal error", not seen


def judge_bytes(what, run, seen):
    said = run.out() + run.err()
    if hangs(run) or "internal-error" in said or run.process.returncode < 0 or (
            run.process.returncode == 125 and "run" not in what):
        seen.append(f"{what}: {ending(run)}".encode(
            errors="backslashreplace").decode())


def lines_after(scene, pause):
    reading, writing = os.pipe()
    with scene.ranks(2, "seq", "1", str(LINES), stdout=writing) as run:
        os.close(writing)
        time.sleep(pause)
        count, end = 0, time.monotonic() + 180
        while time.monotonic() < end and (
                select.select([reading], [], [], 1)[0]):
            data = os.read(reading, 1 << 20)
            if not data:
                break
            count += data.count(b"\n")
        os.close(reading)
        run.wait()
    return count, run


def judged_loss(run, arrived, wanted):
    said = re.search(r"[0-9][0-9.,]* ?([KMG]i)?B\b|[0-9]+ bytes", run.err())
    text = f"{arrived:,} of {wanted:,} lines, exit {run.process.returncode}"
    if arrived == wanted:
        return text, run.process.returncode == 0
    text += f", said: {run.last()[:140]}" if said else ", nothing is said"
    return text, bool(said) and run.process.returncode not in (0, None)


@row("reader of the output pauses 3 s")
def reader_3(scene):
    count, run = lines_after(scene, 3)
    return judged_loss(run, count, 2 * LINES)


@row("reader of the output pauses 10 s")
def reader_10(scene):
    count, run = lines_after(scene, 10)
    return judged_loss(run, count, 2 * LINES)


@row("reader of the output goes away, head -1")
def reader_gone(scene):
    reading, writing = os.pipe()
    with scene.ranks(1, "seq", "1", str(LINES), stdout=writing) as run:
        os.close(writing)
        os.read(reading, 100)
        os.close(reading)
        run.wait()
    text, good = judged_loss(run, 1, LINES)
    logs = b"".join(path.read_bytes()
                    for path in run.run().glob("logs/**/*") if path.is_file())
    whole = logs.count(b"\n") >= LINES
    return text + (", log complete" if whole else ", log cut"), good and whole


@row("standard output is /dev/full")
def output_full(scene):
    with open("/dev/full", "wb") as full:
        run = scene.ended_ranks(1, "seq", "1", "1000", stdout=full)
    good = run.process.returncode not in (0, None) and "No space" in run.err()
    return ending(run), good


@row("standard output is closed")
def output_closed(scene):
    before = ["sh", "-c", 'exec "$@" >&-', "sh"]
    run = scene.ended_ranks(1, "seq", "1", "1000", before=before)
    return ending(run), run.process.returncode not in (0, None)


@row("banner of a server with escapes, check --target")
def banner(scene):
    serve = ("import socket\ns = socket.socket()\ns.bind(('127.0.0.1', {0}))\n"
             "s.listen()\nwhile True:\n c, _ = s.accept()\n"
             " c.sendall(b'SSH-2.0-\\x1b]0;PWNED\\x07\\xc2\\x9b2J\\r\\n')\n"
             " c.recv(100); c.close()\n")
    port = free_ports(1)[0]
    server = subprocess.Popen(["python3", "-c", serve.format(port)])
    try:
        victim.until(lambda: listens(port), 10)
        run = scene.ended("check", "--target", f"ssh://127.0.0.1:{port}", "-v",
                          seconds=40)
        text, good = judged_raw(run)
        return text, good and "PWNED" in run.out() + run.err()
    finally:
        server.kill()
        server.wait()
