#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what clang-tidy is to read: many files together in one unit, for it
spends most of its time on the headers that they share.

  tools/tidy_units.py BUILD OUT [KNOWN-BUILD]

Takes the files of ours that the compilation database of BUILD knows, less those
that the one of KNOWN-BUILD knows too, writes units and their own database to
OUT and prints the units' paths, those with most files first. A name that one
file keeps to itself and another one also uses keeps the two apart.
"""
import collections
import json
import pathlib
import shlex
import sys

from units import united

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_FILES = 40


def entries(build):
    """File -> (folder of the compiler, its flags)."""
    found = {}
    database = pathlib.Path(build) / "compile_commands.json"
    for entry in json.loads(database.read_text()):
        file = pathlib.Path(entry["file"])
        if not file.is_relative_to(ROOT) or file.is_relative_to(ROOT / "build"):
            continue
        name = file.relative_to(ROOT)
        # Tests are read by people and by the compiler; tidy is for what ships.
        if name.name.endswith("_test.cc") or name.parts[0] == "tests":
            continue
        words = shlex.split(entry["command"])
        flags = [word for before, word in zip(words, words[1:])
                 if word not in ("-c", "-o") and before not in ("-c", "-o")]
        found[name] = (entry["directory"], tuple(flags))
    return found


def grouped(found):
    """Lists of files that go together: with the same flags, one main(), and
    those that call the system apart. Our namespace `connect` hides its function
    of that name."""
    groups = collections.defaultdict(list)
    for name, (_, flags) in sorted(found.items()):
        alone = name if "\nint main(" in (ROOT / name).read_text() else None
        of_system = name.parts[:2] == ("src", "sys")
        groups[flags, alone, of_system].append(ROOT / name)
    return [[path.relative_to(ROOT) for path in unit]
            for group in groups.values() for unit in united(group, MOST_FILES)]


def main():
    build, out = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    found = entries(build)
    for known in sys.argv[3:]:
        for name in entries(known):
            found.pop(name, None)
    out.mkdir(parents=True, exist_ok=True)
    database = []
    for files in sorted(grouped(found), key=len, reverse=True):
        folder, flags = found[files[0]]
        unit = out / ("_".join(files[0].with_suffix("").parts) + "_unit.cc")
        unit.write_text("".join(
            f'#include "{ROOT / name}"  // NOLINT(bugprone-suspicious-include)\n'
            for name in files))
        # A name of one file is no name of its neighbour.
        database.append({"directory": folder, "file": str(unit),
                         "arguments": ["clang++-14", *flags, "-Wno-shadow", "-c",
                                       str(unit)]})
        print(unit)
    (out / "compile_commands.json").write_text(json.dumps(database, indent=1))


if __name__ == "__main__":
    main()
