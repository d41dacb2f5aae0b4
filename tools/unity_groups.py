#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads lines of `TARGET FILE;FILE;…`, paths absolute, and prints what says to
CMake which files of a target are compiled as one.
"""
import pathlib
import sys

from units import united

MOST_FILES = 16
ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    for line in sys.stdin:
        target, files = line.rstrip("\n").split(" ", 1)
        # Generated ones stay alone: they come and go with the build.
        there = [path for path in map(pathlib.Path, files.split(";"))
                 if path.suffix == ".cc" and path.is_relative_to(ROOT)
                 and path.relative_to(ROOT).parts[0] != "build"]
        for number, unit in enumerate(united(there, MOST_FILES)):
            if len(unit) > 1:
                print("set_source_files_properties("
                      + " ".join(f'"{path}"' for path in unit)
                      + f" TARGET_DIRECTORY {target}"
                      f" PROPERTIES UNITY_GROUP {target}{number})")


if __name__ == "__main__":
    main()
