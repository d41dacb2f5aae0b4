#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `muster check fit` with the compiler of TPUs, and writes the table
of docs/reference/fit.md.

  PYTHON bench/fit_programs.py FOLDER
  MUSTER_LIBTPU=…/libtpu.so bench/fit_errors.py build/release/muster FOLDER
  … --page                        rewrites docs/reference/fit.md

What the compiler said of a program is kept in FOLDER and asked once.
"""
import json
import os
import pathlib
import subprocess
import sys

import processes

PAGE = pathlib.Path(__file__).parent.parent / "docs/reference/fit.md"
BEGIN = "<!-- table: bench/fit_errors.py -->\n"
GIB = 1 << 30
# Has room for all of them.
ON = "v5p:2x2x1"


def ask(muster, *argv):
    done = subprocess.run([muster, "check", *argv, "--output", "json"],
                          capture_output=True, text=True, timeout=3600)
    return json.loads(done.stdout)


def compiled(muster, folder, file):
    """The compiler's figures of a program, in bytes of one device."""
    kept = folder / file.replace(".mlir", ".compiled.json")
    if not kept.exists():
        kept.write_text(json.dumps(ask(
            muster, "program", str(folder / file), "--on", ON, "--plugin",
            os.environ["MUSTER_LIBTPU"], "--timeout", "30min")))
    return json.loads(kept.read_text())["answer"]["compiled"]["memory"]


def row(muster, folder, program):
    memory = compiled(muster, folder, program["file"])
    real = (memory["arguments"] + memory["outputs"] - memory["alias"]
            + memory["temporaries"])
    told = ask(muster, "fit", "--params", str(program["params"]),
               "--optimizer", program["optimizer"], "--dtype",
               program["dtype"], "--activations", program["activations"],
               "--on", ON)
    return {**program, "compiled": real, "estimated": told["bytes"],
            "error": told["bytes"] / real - 1}


def table(rows):
    lines = ["| step | parameters | optimizer | dtype | compiled, GiB "
             "| estimated, GiB | error |", "|---|---|---|---|---|---|---|"]
    for one in rows:
        lines.append(
            f"| {one['name']} | {one['params'] / 1e6:.0f} M "
            f"| {one['optimizer']} | {one['dtype']} "
            f"| {one['compiled'] / GIB:.2f} | {one['estimated'] / GIB:.2f} "
            f"| {one['error']:+.0%} |")
    errors = sorted(abs(one["error"]) for one in rows)
    low, high = (end(one["error"] for one in rows) for end in (min, max))
    median = errors[len(errors) // 2]
    lines += ["", f"{len(rows)} programs: median error {median:.0%}, from "
              f"{low:+.0%} to {high:+.0%}."]
    return "\n".join(lines) + "\n"


def main():
    muster, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    programs = json.loads((folder / "programs.json").read_text())
    text = table([row(muster, folder, one) for one in programs])
    print(text)
    if "--page" in sys.argv[3:]:
        page = PAGE.read_text()
        PAGE.write_text(page[:page.index(BEGIN) + len(BEGIN)] + text)


if __name__ == "__main__":
    sys.exit(processes.supervised(main))
