# SPDX-License-Identifier: Apache-2.0
"""%load_ext muster: `%muster ARGS…`, `%%muster run FLAGS…` above a cell."""
from __future__ import annotations

import os
import shlex
import tempfile
from typing import Optional

from ._errors import MusterError, RunFailed
from ._run import of_cell, start


def magic(line: str, cell: Optional[str] = None) -> None:
    """Runs muster; with a cell, the cell is the program of every rank."""
    words = shlex.split(line)
    if cell is None:
        _checked(words)
        return
    if words[:1] != ["run"]:
        raise MusterError("%%muster takes run and its flags: %%muster run -n 2")
    with tempfile.TemporaryDirectory(prefix="muster-") as folder:
        path = os.path.join(folder, "cell.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(cell)
        # A cell imports what lies beside the notebook.
        paths = [os.getcwd(), os.environ.get("PYTHONPATH", "")]
        _checked(of_cell(words, path), PYTHONUNBUFFERED="1",
                 PYTHONPATH=os.pathsep.join(filter(None, paths)))


def _checked(command: "list[str]", **variables: str) -> None:
    code = start(command, {**os.environ, **variables})
    if code != 0:
        raise RunFailed(code, ("muster", *command))
