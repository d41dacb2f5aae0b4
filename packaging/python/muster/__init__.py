# SPDX-License-Identifier: Apache-2.0
"""muster for Python: the program, and the few things a script may want of it.

    muster.step(7, loss=0.25)                  report a step; else nothing
    muster.run(["-n", "2", "--", "python3", "train.py"])
    muster.explain("train.log")                why did it fail?
    %load_ext muster, then %%muster run -n 2   the cell is the program

Python files only: the program is a file of this package, and nothing is loaded
into your process. What is not used is not imported.
"""
from __future__ import annotations

from ._progress import step

TYPE_CHECKING = False  # type checkers know the name; typing itself takes 5 ms
if TYPE_CHECKING:
    from typing import Any

    from ._errors import (MusterError, ProgramMissing, RunFailed,
                          UnknownCause)
    from ._explain import Candidate, Evidence, Finding, Fix, explain
    from ._run import run

__all__ = ["Candidate", "Evidence", "Finding", "Fix", "MusterError",
           "ProgramMissing", "RunFailed", "UnknownCause", "explain", "run",
           "step"]
_MODULES = ("_errors", "_explain", "_run")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version
        return version("muster")
    if name in __all__:
        from importlib import import_module
        for module in _MODULES:
            home = import_module(f"{__name__}.{module}")
            if hasattr(home, name):
                return getattr(home, name)
    raise AttributeError(f"module 'muster' has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext muster`."""
    from ._notebook import magic
    shell.register_magic_function(magic, "line_cell", "muster")
