# SPDX-License-Identifier: Apache-2.0
"""The Python that has the packages of others: $MUSTER_INTEROP_PYTHON, else the
environment that `.ci/run` makes; Google's clients are in one of their own
($MUSTER_CLOUD_PYTHON). Without it, or without a package, the test is skipped
with the reason on its output."""
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
ASK = ("import importlib.util, sys; "
       "print(*[p for p in sys.argv[1:] if not importlib.util.find_spec(p)])")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def interop_python(*packages, kind="interop"):
    """Its path; it can import all of these packages."""
    variable = f"MUSTER_{kind.upper()}_PYTHON"
    python = pathlib.Path(
        os.environ.get(variable)
        or SOURCE / "build" / f"venv-{kind}" / "bin" / "python3")
    if not python.exists():
        skip(f"there is no {python}; `.ci/run` makes one with "
             f"{', '.join(packages)}, ${variable} names another")
    absent = subprocess.run([python, "-c", ASK, *packages], text=True,
                            capture_output=True, check=True).stdout.split()
    if absent:
        skip(f"{python} has no {', '.join(absent)}")
    return python
