#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what clang-tidy is to read: files of a room together in one unit, for
it spends most of its time on the headers that they share.

  tools/tidy_units.py BUILD OUT [KNOWN-BUILD]

Takes the files of ours that the compilation database of BUILD knows, less those
that the one of KNOWN-BUILD knows too, writes units and their own database to
OUT and prints the units' paths, those with most files first. A name that one
file keeps to itself and another one also uses keeps the two apart.
"""
import collections
import json
import pathlib
import re
import shlex
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_FILES = 8
# Files of these folders have a main() each.
PROGRAMS = ("bench", "examples", "tools")


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


NAMESPACE = re.compile(r"^namespace (muster[\w:]*) \{", re.M)
OWN = re.compile(r"^namespace \{\n(.*?)^\}  // namespace\n", re.S | re.M)
DEFINED = re.compile(r"^(?:class|struct|enum class|using) (\w+)"
                     r"|^[^\s/#}].*?\b(k?[A-Z]\w*)(?:\(|\[|\{| =|;)", re.M)
# Defined for many types: one of a file's own would hide the others.
HIDES = re.compile(r"\bTo[A-Z]\w*")


class Unit:
    """Files that are read together."""

    def __init__(self):
        self.files = []
        self.own, self.used, self.hiding = set(), set(), set()

    def take(self, name):
        """False when the file does not go with those that are in it."""
        text = (ROOT / name).read_text()
        names = {name for part in OWN.findall(text)
                 for found in DEFINED.findall(part) for name in found if name}
        place = NAMESPACE.search(text)
        own = {(place and place[1], name) for name in names}
        used = set(HIDES.findall(text))
        hiding = set(filter(HIDES.match, names))
        if (len(self.files) == MOST_FILES or own & self.own
                or hiding & self.used or used & self.hiding):
            return False
        self.files.append(name)
        self.own |= own
        self.used |= used
        self.hiding |= hiding
        return True


def grouped(found):
    """Lists of files that go together: of one folder, with the same flags."""
    groups = collections.defaultdict(list)
    for name, (_, flags) in sorted(found.items()):
        alone = name if name.parts[0] in PROGRAMS else None
        units = groups[name.parent, flags, alone]
        if not any(unit.take(name) for unit in units):
            units.append(Unit())
            units[-1].take(name)
    return [unit.files for units in groups.values() for unit in units]


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
        database.append({"directory": folder, "file": str(unit),
                         "arguments": ["clang++-14", *flags, "-c", str(unit)]})
        print(unit)
    (out / "compile_commands.json").write_text(json.dumps(database, indent=1))


if __name__ == "__main__":
    main()
