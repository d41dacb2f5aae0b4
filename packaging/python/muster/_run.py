# SPDX-License-Identifier: Apache-2.0
"""muster.run: `muster run` from Python."""
from __future__ import annotations

import codecs
import os
import signal
import subprocess
import sys
from typing import IO, Any, List, Mapping, Optional, Sequence

from ._errors import RunFailed
from ._program import program


def run(args: Sequence[str], *, check: bool = True) -> int:
    """Runs `muster run ARGS…` and returns its exit code.

    Raises RunFailed for another than 0, unless `check` is false, and
    ProgramMissing where the program cannot start. Its output goes where that of
    this process goes: in a notebook, to the cell.
    """
    command = ["run", *map(os.fspath, args)]
    code = start(command)
    if check and code != 0:
        raise RunFailed(code, ("muster", *command))
    return code


def start(command: Sequence[str],
          environment: Optional[Mapping[str, str]] = None) -> int:
    """The exit code of `muster COMMAND…`; output is passed on as it comes."""
    argv = [program(), *command]
    if _is_standard_output(sys.stdout):
        sys.stdout.flush()
        return _code(subprocess.call(argv, env=environment))
    # A session of its own: whoever interrupts a kernel may mean its children
    # too, and then the program would have two interrupts.
    with subprocess.Popen(argv, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True) as child:
        assert child.stdout is not None
        text = codecs.getincrementaldecoder("utf-8")("replace")
        while True:
            try:
                part = os.read(child.stdout.fileno(), 65536)
            except KeyboardInterrupt:
                child.send_signal(signal.SIGINT)
                continue
            sys.stdout.write(text.decode(part, final=not part))
            sys.stdout.flush()
            if not part:
                break
    return _code(child.returncode)


def _code(status: int) -> int:
    """As a shell says it."""
    return 128 - status if status < 0 else status


def _is_standard_output(stream: IO[Any]) -> bool:
    try:
        return stream.fileno() == 1
    except (AttributeError, OSError, ValueError):
        return False


def of_cell(line: List[str], path: str) -> List[str]:
    """The command of `%%muster LINE` whose cell is the file PATH."""
    if "--" not in line:
        line = [*line, "--", sys.executable or "python3"]
    return [*line, path]
