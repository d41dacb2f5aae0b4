#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/tutorial and docs/how-to show what the program prints.

  MUSTER_BINARY=… MUSTER_SOURCE=… tests/docs/pages_test.py [--update] [PAGE…]

A fenced block that begins with `$ COMMAND` (in a notebook `!COMMAND`) is run as
the comment above it says, and what is printed must stand below the command:

    <!-- run SLURM_PROCID=2 SLURM_NTASKS=3 -->     in this environment
    <!-- run @tpu_vm -->                           with a server of tests/fakes
    <!-- run @cloud both only=^error -->           a part of what is printed

stdout is shown; `both` shows stderr, too. What is shown of it, in this order:
`without=RE` drops lines, `only=RE` keeps lines and `first=N` the first N (what
they cut off is one line `[…]`), `sort` sorts (`sort=ranks` the ranks' lines),
`once` drops a line that stood before (of an attempt that was repeated: PyTorch's
threads of Gloo may abort a process that is ending), `s/RE/TEXT/` replaces. Run ids, process ids and times may differ from those on the
page.

    <!-- file train.py -->      the block is written into that file
    <!-- given train.py         what follows in this comment is written into it

The commands of a page that has such files, or is a tutorial, share one folder;
elsewhere each command has its own.
`needs=MODULE` skips a block where neither python3 nor MUSTER_TORCH_PYTHON has
the module, `needs=grpc` where the build has no gRPC.

`<!-- wrong LABEL: NAME=VALUE … [muster FLAGS] -->` after a table: in that
environment the program's answer has the cause LABEL, which the page names.
A command in any other block is an error, unless the block's comment says
`<!-- not run: why -->`. What such blocks show of findings is held against the
catalogue all the same, and the lines of a `muster check` against `--list`; so
it is in README.md.
"""
import difflib
import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import environment
from environment import MUSTER, SOURCE, run

BLOCK = re.compile(r"(?:<!-- ([^>]*?) ?-->\n\n?)?```(\w*)\n(.*?)```\n", re.S)
GIVEN = re.compile(r"<!-- given (\S+)\n(.*?)-->", re.S)
WRONG = re.compile(r"<!-- wrong ([a-z-]+): (.*?) -->", re.S)
# What was seen decides their fixes, the catalog has others.
OWN_FIXES = {"accelerator-unused", "preempted"}
# What is said of requests while they last.
NOISE = re.compile(r"^muster: info asking ")
# What is another each time.
VARIES = [(re.compile(r"\d{8}-\d{6}-[2-9a-z]{4}"), "RUN"),
          (re.compile(r"\b(process|pid) \d+"), r"\1 N"),
          (re.compile(r"\b\d+(\.\d+)? (ms|s|KiB)\b"), r"N \2")]


def cut(lines, keeps):
    """The lines that are kept; `[…]` in place of others."""
    out = []
    for number, line in enumerate(lines):
        if keeps(number, line):
            out.append(line)
        elif out[-1:] != ["[…]"]:
            out.append("[…]")
    return out


def shown(lines, words):
    """What the page shows of these lines."""
    lines = [line.rstrip() for line in lines if not NOISE.match(line)]
    for word in words:
        name, _, value = word.partition("=")
        if name == "without":
            lines = [line for line in lines if not re.search(value, line)]
        elif name == "only":
            lines = cut(lines, lambda _, line: re.search(value, line))
        elif name == "first":
            lines = cut(lines, lambda number, _: number < int(value))
        elif word == "sort=ranks":
            ranks = sorted(line for line in lines if line.startswith("[rank"))
            lines = [ranks.pop(0) if line.startswith("[rank") else line
                     for line in lines]
        elif word == "once":
            lines = list(dict.fromkeys(lines))
        elif word == "sort":
            lines = cut(sorted(lines), lambda _, line: line != "[…]")
        elif word.startswith("s/"):
            _, pattern, text, _ = word.split("/")
            lines = [re.sub(pattern, text, line) for line in lines]
    return lines


def is_filter(word):
    return word == "both" or word.startswith("s/") or word.partition("=")[
        0] in ("without", "only", "first", "sort", "once", "needs")


def steady(text):
    for pattern, instead in VARIES:
        text = pattern.sub(instead, text)
    return text


class Page:
    """One page, its failures, and what it should be."""

    def __init__(self, path):
        self.path = path
        self.text = path.read_text()
        self.runs = 0
        self.skips = []
        self.failures = []
        self.folder = None

    def played(self, block, words):
        """The block as it should be: each command with what it printed."""
        filters = [word for word in words if is_filter(word)]
        variables = [word for word in words if not is_filter(word)]
        out = []
        for command in re.split(r"^(?=\$ |!)", block, flags=re.M):
            if not command.startswith(("$ ", "!")):
                out += command.splitlines()
                continue
            line = re.match(r"(?:.*\\\n)*.*\n", command).group(0)
            printed = run(re.sub(r"^(\$ |!)", "", line), variables,
                          "both" in filters, self.folder)
            if self.folder:
                printed = printed.replace(self.folder, "/home/me/lesson")
            out += line.splitlines() + shown(printed.splitlines(), filters)
        return "\n".join(out) + "\n"

    def visit(self, match):
        comment, _, block = match.groups()
        kind, _, rest = (comment or "").partition(" ")
        words = shlex.split(rest) if kind == "run" else []
        lacks = ""
        for need in (word[6:] for word in words if word.startswith("needs=")):
            if need == "grpc":
                lacks = (os.environ.get("MUSTER_GRPC") == "0" and
                         "this build has no gRPC")
            elif folder := python_with(need):
                words.append(f"PATH={folder}:{environment.PATH}")
            else:
                lacks = f"no python3 has {need}"
        if kind == "file":
            (pathlib.Path(self.folder) / rest).write_text(block)
        elif lacks:
            self.skips.append(lacks)
        elif kind == "run":
            self.runs += 1
            new = self.played(block, words)
            if steady(new) != steady(block):
                return match.group(0).replace(block, new)
        elif not comment or not comment.startswith("not run: "):
            self.failures.append(
                f"{self.path.name}: a block that nobody runs:\n{block}")
        return match.group(0)

    def check(self, update):
        given = GIVEN.findall(self.text)
        with tempfile.TemporaryDirectory() as folder:
            if given or self.path.parent.name == "tutorial":
                self.folder = folder
            for name, content in given:
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)
            new = BLOCK.sub(self.visit, self.text)
        for line in self.text.splitlines():
            if re.match(r"    \S*\s*(muster|!muster|eval|srun) ", line):
                self.failures.append(
                    f"{self.path.name}: a command that nobody runs: {line}")
        self.failures += check_wrong(self.path.name, self.text)
        if update:
            self.path.write_text(new)
        elif new != self.text:
            self.failures.append("\n".join(difflib.unified_diff(
                self.text.splitlines(), new.splitlines(), self.path.name,
                "what the program printed", lineterm="")))


@functools.cache
def python_with(module):
    """The folder of a python3 that has the module; None: none has."""
    for python in ("/usr/bin/python3", os.environ.get("MUSTER_TORCH_PYTHON")):
        if python and subprocess.run([python, "-c", f"import {module}"],
                                     check=False,
                                     capture_output=True).returncode == 0:
            return os.path.dirname(python)
    return None


def check_wrong(page, text):
    failures = []
    for label, rest in WRONG.findall(text):
        words = shlex.split(rest)
        at = words.index("muster") if "muster" in words else len(words)
        flags = words[at + 1:]
        both = run(shlex.join(["muster", "resolve", *flags]), words[:at], True)
        if f"[{label}]" not in both:
            failures.append(f"{page}: expected {label} with {rest}, got:\n"
                            f"{both[:600]}")
        if f"`{label}`" not in WRONG.sub("", text):
            failures.append(f"{page}: does not name `{label}`")
    return failures


@functools.cache
def catalogue(label):
    out = subprocess.run([MUSTER, "explain", label, "--output", "json"],
                         check=True, text=True, capture_output=True).stdout
    return json.loads(out)


@functools.cache
def checks():
    out = subprocess.run([MUSTER, "check", "--list"], check=True, text=True,
                         capture_output=True).stdout
    return re.findall(r"^([a-z]+\.[a-z-]+) ", out, re.M)


def fixes_of(label):
    """The catalogue's fixes as one line, any value in place of a FIELD."""
    lines = []
    for fix in catalogue(label)["fixes"]:
        command = re.sub(r"\b[A-Z]{2,}\b", r"\\S+", re.escape(fix["command"]))
        lines.append(re.escape(fix["text"]) + (": " + command if command else "")
                     + " " + fix["safety"]
                     + (", changes results" if fix["changes_results"] else ""))
    return " ".join(lines).replace(r"\ ", " ")


FINDING = re.compile(
    r"^(?:error|warning|note)\[([a-z-]+)\][^\n]*\n((?: +[^\n]*\n)*)", re.M)


def check_shown(page, block):
    """What a block that is not run shows and the program would not say."""
    failures = []
    for label, lines in FINDING.findall(block):
        said = re.search(r"^  fix  +(.*?)(?=^  [a-z]|\Z)", lines, re.M | re.S)
        if said and label not in OWN_FIXES and not re.fullmatch(
                fixes_of(label), " ".join(said.group(1).split())):
            failures.append(f"{page}: the fixes of {label} are others: "
                            f"muster explain {label}\n{said.group(1)}")
    return failures


def check_lines(page, block):
    """Whether a `muster check` of groups shows all checks of them."""
    failures = []
    for words in re.findall(r"^\$ muster check (.*)$", block, re.M):
        listed = re.findall(r"^(?:ok|warn|FAIL|skip|broken) +(\S+\.\S+)",
                            block, re.M)
        wanted = {one for one in checks() if listed and
                  {one, one.partition(".")[0]} & set(words.split(" "))}
        if missing := sorted(wanted - set(listed)):
            failures.append(f"{page}: `muster check {words}` lacks {missing}")
        if unknown := sorted(set(listed) - set(checks())):
            failures.append(f"{page}: there is no check {unknown}")
    return failures


def check_not_run(path):
    failures = []
    text = path.read_text()
    for comment, _, block in BLOCK.findall(text):
        if not comment.startswith("run"):
            failures += check_shown(path.name, block)
            failures += check_lines(path.name, block)
    return failures + check_shown(
        path.name, re.sub(r"(?m)^ {4}", "", BLOCK.sub("", text)))


def main():
    words = sys.argv[1:]
    update = "--update" in words
    named = {word for word in words if not word.startswith("--")}
    pages = [path for folder in ("tutorial", "how-to")
             for path in sorted((SOURCE / "docs" / folder).glob("*.md"))
             if not named or path.name in named]
    runs, failures = 0, check_not_run(SOURCE / "README.md")
    no_machines = environment.why_no_machines()
    for path in pages:
        failures += check_not_run(path)
        if no_machines and "<!-- run @machines" in path.read_text():
            print(f"skipped: {path.name}: {no_machines}")
            continue
        page = Page(path)
        page.check(update)
        runs += page.runs
        failures += page.failures
        for why in page.skips:
            print(f"skipped: {path.name}: {why}")
    print("\n".join(failures))
    print(f"{len(pages)} pages, {runs} examples, {len(failures)} failures")
    sys.exit(1 if failures or not pages else 0)


if __name__ == "__main__":
    main()
