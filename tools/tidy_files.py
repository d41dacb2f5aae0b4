#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the files that clang-tidy is to read, of those that the compilation
database of BUILD knows.

  tools/tidy_files.py BUILD           those that changed in the day before the last
                                      commit, and a twelfth of the rest
  tools/tidy_files.py BUILD --all     every file, or unit of files

A file has changed when it or its header did, in a commit of that day or in the
working tree. The twelfth is the same on every machine. Tests are read by people
and by the compiler; tidy is for what ships. A line on stderr counts what is left.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
DAY = 24 * 60 * 60
SAMPLE = 12
MAX_CHANGED = 60


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], check=True, text=True,
                          capture_output=True).stdout.splitlines()


def known_files(build):
    """What ships, relative to ROOT: our files, and units of them in BUILD."""
    names = set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        if not path.is_relative_to(ROOT):
            continue
        name = path.relative_to(ROOT)
        is_test = "tests" in name.parts or "_test." in str(name)
        is_made = name.parts[0] == "build" and "Unity" not in name.parts
        if not is_test and not is_made:
            names.add(name)
    return sorted(names)


def changed_names():
    """Not committed, then those of the last day's commits, newest first."""
    last = int(git("log", "-1", "--format=%ct")[0])
    names = [*git("diff", "--name-only", "HEAD"),
             *git("ls-files", "--others", "--exclude-standard"),
             *git("log", f"--since={last - DAY}", "--name-only", "--format=")]
    return [pathlib.Path(name) for name in dict.fromkeys(names) if name]


def changed_files(files):
    """Those of `files` that changed, or whose header did."""
    known = set(files)
    found = {}
    for name in changed_names():
        if name.parts[0] == "include":  # its source is in one of the rooms
            found.update(dict.fromkeys(
                file for file in files if file.stem == name.stem))
        elif name.with_suffix(".cc") in known:
            found[name.with_suffix(".cc")] = None
    return list(found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    line = parser.parse_args()
    files = known_files(line.build)
    if line.all:
        print(*files, sep="\n")
        return
    changed = changed_files(files)
    taken = changed[:MAX_CHANGED]
    sample = [file for file in files if file not in changed
              and zlib.crc32(str(file).encode()) % SAMPLE == 0]
    print(*taken, *sample, sep="\n")
    print(f"clang-tidy: {len(taken)} of {len(changed)} changed files, "
          f"{len(sample)} of {len(files) - len(changed)} others; "
          "`make lint-all` reads every one", file=sys.stderr)


if __name__ == "__main__":
    main()
