#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks on a built muster, and whether it stands them.

  attack.py kills --program P --trainer T --trials 300 --seed 1
  attack.py checkpoints --program P --trainer T
  attack.py rows --program P --trainer T [--only NAME] [--save FILE]
  attack.py rows ... --against FILE    two columns: FILE holds what was saved

T is the built examples/fashion_mnist. Root: some attacks need two users, or
mounts of their own. Exit code: 0, or 1 if one attack succeeds.
"""
import argparse
import os
import pathlib
import signal
import sys

import attack_checkpoints
import attack_kills
import attack_rows
import rows_controls  # noqa: F401 (registers its rows)
import rows_host  # noqa: F401
import rows_text  # noqa: F401
import rows_trust  # noqa: F401
import victim


class Lab:
    """What is attacked."""

    def __init__(self, options):
        self.program = str(options.program.resolve())
        self.trainer = str(options.trainer.resolve())
        self.seed = options.seed


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    for name in ("kills", "checkpoints", "rows"):
        kind = kinds.add_parser(name)
        kind.add_argument("--program", type=pathlib.Path, required=True)
        kind.add_argument("--trainer", type=pathlib.Path, required=True)
        kind.add_argument("--seed", type=int, default=1)
        kind.add_argument("--workers", type=int, default=1)
        if name == "kills":
            kind.add_argument("--trials", type=int, default=300)
        if name == "rows":
            kind.add_argument("--only", default="")
            kind.add_argument("--of", default="",
                              help="only rows of rows_NAME.py")
            kind.add_argument("--save", type=pathlib.Path)
            kind.add_argument("--against", type=pathlib.Path)
    return parser.parse_args()


def end(number, _frame):
    raise SystemExit(128 + number)


def main():
    options = arguments()
    # So that what was started is ended, whatever ends this.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    # What began in the background ignores it, and so would what it starts.
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    victim.no_core_files()
    os.umask(0o022)
    lab = Lab(options)
    if options.kind == "kills":
        failures = attack_kills.play(lab, options.trials, options.workers)
    if options.kind == "checkpoints":
        failures = attack_checkpoints.play(lab)
    if options.kind == "rows":
        failures = attack_rows.play(lab, options)
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
