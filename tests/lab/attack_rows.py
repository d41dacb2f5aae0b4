# SPDX-License-Identifier: Apache-2.0
"""The attacks that are one command or two each, as rows of a table."""
import json
import shutil
import socket
import subprocess
import traceback

import victim

ROWS = {}
NOBODY = 65534
# A rank that waits, in every shell.
SLEEP = ("sleep", "600")


class Skipped(Exception):
    """This machine lacks what a row needs."""


def row(name):
    """Registers a function of a Scene that gives (what was seen, good)."""
    def register(function):
        ROWS[name] = function
        return function
    return register


def as_nobody():
    return ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY),
            "--clear-groups"]


def free_ports(count):
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Scene:
    """What a row has: the program, a folder, and how to start things."""

    def __init__(self, lab, folder):
        self.folder = folder
        self.trainer = lab.trainer
        # Another user cannot enter every folder that programs are built in.
        self.program = str(folder / "muster")
        shutil.copy(lab.program, self.program)

    def muster(self, *argv, name=".", **options):
        return victim.Victim([self.program, *argv], self.folder / name,
                             **options)

    def ranks(self, count, *command, flags=(), **options):
        return self.muster("run", "-n", str(count), "--check", "off", *flags,
                           "--", *command, **options)

    def ended(self, *argv, seconds=victim.DEADLINE, **options):
        """A finished muster, which may hang: its code is None then."""
        with self.muster(*argv, **options) as run:
            run.wait(seconds)
        return run

    def ended_ranks(self, count, *command, seconds=victim.DEADLINE, **options):
        with self.ranks(count, *command, **options) as run:
            run.wait(seconds)
        return run

    def compiled(self, source, name):
        """A library from C."""
        if not shutil.which("cc"):
            raise Skipped("there is no C compiler")
        path = self.folder / name
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", path],
                       input=source.encode(), check=True)
        return path


def ending(run):
    """How it ended, in words."""
    if run.process.returncode is None or run.used is None:
        return f"hangs (ended after {run.seconds:.0f} s)"
    return f"exit {run.process.returncode}, {run.last()[:200]}"


def hangs(run):
    return run.used is None


def cell_of(text):
    """What a terminal and a table can show."""
    return "".join(one if one.isprintable() else "?"
                   for one in text.replace("|", "\\|").replace("\n", " "))


def play_one(lab, name):
    try:
        with victim.folder_of("row") as folder:
            return ROWS[name](Scene(lab, folder))
    except Skipped as reason:
        return f"not played: {reason}", None
    except Exception:  # One row says nothing of the others.
        traceback.print_exc()
        return "the row itself failed", False


def play(lab, options):
    before = json.loads(options.against.read_text()) if (
        options.against) else {}
    # What is played again takes its place among what was saved.
    results = json.loads(options.save.read_text()) if (
        options.save and options.save.exists()) else {}
    played = []
    verdicts = {True: "good", False: "BAD", None: "-"}
    heads = ["row", *(["before", ""] if before else []), "seen", "verdict"]
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for name, function in ROWS.items():
        if options.only not in name or not function.__module__.endswith(
                options.of):
            continue
        text, good = play_one(lab, name)
        results[name] = text, good
        played.append(good)
        cells = [name]
        if before:
            was, was_good = before.get(name, ("not played", None))
            cells += [was, verdicts[was_good]]
        cells += [text, verdicts[good]]
        print(f"| {' | '.join(map(cell_of, cells))} |", flush=True)
        if options.save:
            options.save.write_text(json.dumps(results, indent=1) + "\n")
    print(f"\n{played.count(True)} good, {played.count(False)} bad, "
          f"{played.count(None)} not played")
    return played.count(False)
