# SPDX-License-Identifier: Apache-2.0
"""What the functions of this package raise."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List, Tuple


class MusterError(Exception):
    """The base of all."""

    def _render_traceback_(self) -> List[str]:
        """In a notebook one line, for no line of Python is at fault."""
        return [f"muster: {self}"]


class ProgramMissing(MusterError):
    """The program cannot be started here; the text says why."""


class RunFailed(MusterError):
    """The run ended with this exit code; docs/reference/exit-codes.md."""

    def __init__(self, exit_code: int, command: Tuple[str, ...]) -> None:
        super().__init__(f"exit code {exit_code}: {' '.join(command)}")
        self.exit_code = exit_code
        self.command = command


class UnknownCause(MusterError):
    """The input shows a failure, and no cause is known; candidates remain."""

    def __init__(self, text: str, candidates: Tuple[object, ...]) -> None:
        super().__init__(text)
        self.candidates = candidates
