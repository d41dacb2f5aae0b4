#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the files of ours that a compilation database knows, one per line.

  tools/tidy_files.py BUILD
"""
import json
import pathlib
import sys

root = pathlib.Path(__file__).resolve().parent.parent
build = (root / sys.argv[1]).resolve()
files = set()
for entry in json.loads((build / "compile_commands.json").read_text()):
    file = pathlib.Path(entry["file"])
    if file.is_relative_to(root) and not file.is_relative_to(root / "build"):
        files.add(file.relative_to(root))
# Tests are read by people and by the compiler; tidy is for what ships.
for file in sorted(files):
    if not file.name.endswith("_test.cc") and file.parts[0] != "tests":
        print(file)
