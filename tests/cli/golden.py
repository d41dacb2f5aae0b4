#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of *.case files and compares what they print.

  tests/cli/golden.py --program build/release/muster tests/cli/*.case
  tests/cli/golden.py --program … --update tests/cli/*.case    rewrites them

A case file: comments (# …), files (= NAME, then lines that begin with "| "),
and commands with what is expected of them:

  $ WORLD_SIZE=2 muster resolve     variables, then the command
  ? 2                               exit status, when it is not 0
  > a line of stdout
  ! a line of stderr

Commands run in an empty folder with nothing but their own variables. What
differs between machines and runs is replaced: see NORMAL.
"""
import argparse
import difflib
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

NORMAL = [
    (r"this host is `[^`]*` with [^)]*\)", "this host is `HOST` with ADDRESSES)"),
    (r"resolve on [\w.-]+", "resolve on HOST"),
    (r'no TPU chip here: [^"\n]*', "no TPU chip here: PLACES"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", "TIME"),
    (r"^muster \d+\.\d+\.\d+$", "muster VERSION"),
]
TIME_LIMIT_S = 60


def normalise(text, folder):
    text = text.replace(str(folder), "FOLDER")
    for pattern, replacement in NORMAL:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    # The right edge of a line depends on what was replaced.
    return re.sub(r"  +resolve on HOST$", "  resolve on HOST", text,
                  flags=re.MULTILINE)


def run(command, program, folder):
    words = shlex.split(command)
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(folder),
                 "NO_GCE_CHECK": "true"}
    while words and re.match(r"^\w+=", words[0]):
        name, value = words.pop(0).split("=", 1)
        variables[name] = value
    if words[0] == "muster":
        words[0] = str(program)
    done = subprocess.run(words, cwd=folder, env=variables, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=TIME_LIMIT_S)
    lines = [f"? {done.returncode}"] if done.returncode else []
    for mark, text in ((">", done.stdout), ("!", done.stderr)):
        for line in normalise(text, folder).splitlines():
            lines.append(f"{mark} {line}".rstrip())
    return lines


def play(case, program):
    """The lines of the file as they should be."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        out = []
        target = None
        for line in case.read_text().splitlines():
            if line.startswith("| "):
                with open(target, "a", encoding="utf-8") as file:
                    file.write(line[2:] + "\n")
            if line.startswith("= "):
                target = folder / line[2:]
                target.parent.mkdir(parents=True, exist_ok=True)
            if line[:1] in "?>!" and line:
                continue
            out.append(line)
            if line.startswith("$ "):
                out += run(line[2:], program, folder)
        return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("cases", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    failed = 0
    for case in args.cases:
        expected = case.read_text().splitlines()
        got = play(case, args.program.resolve())
        if args.update:
            case.write_text("\n".join(got) + "\n")
        elif got != expected:
            failed += 1
            print("\n".join(difflib.unified_diff(
                expected, got, str(case), "what the program printed",
                lineterm="")))
    if failed:
        print(f"{failed} of {len(args.cases)} files differ; if that is meant: "
              f"tests/cli/golden.py --program {args.program} --update "
              f"{' '.join(map(str, args.cases))}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
