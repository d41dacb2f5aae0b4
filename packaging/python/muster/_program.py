# SPDX-License-Identifier: Apache-2.0
"""The program: a file of this package, and what starts it."""
from __future__ import annotations

import os
import sys

from ._errors import ProgramMissing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn, Optional

# What the program needs; packaging/wheel.py compares it with the program.
GLIBC = (2, 35)


def c_library() -> Optional[str]:
    """As `glibc 2.36`; None: another one."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, OSError, ValueError):
        return None


def obstacle(library: Optional[str]) -> Optional[str]:
    """Why the program cannot run with this C library; None: it can."""
    needs = ".".join(map(str, GLIBC))
    name, _, version = (library or "").partition(" ")
    try:
        here = tuple(int(part) for part in version.split(".")[:2])
    except ValueError:
        here = ()
    if name != "glibc" or not here:
        return f"muster needs glibc {needs}, this system has another C library"
    if here < GLIBC:
        return f"muster needs glibc {needs}, this system has {version}"
    return None


def program() -> str:
    """The path of the program; ProgramMissing if it cannot run here."""
    reason = obstacle(c_library())
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin",
                        "muster")
    if reason is None and not os.access(path, os.X_OK):
        reason = f"{path} is no program: install the wheel again"
    if reason is not None:
        raise ProgramMissing(reason)
    return path


def main() -> NoReturn:
    """Becomes the program: signals and exit code are its own."""
    import signal
    try:
        path = program()
        # Python ignores these, and what is ignored stays so.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.execv(path, ["muster", *sys.argv[1:]])
    except (ProgramMissing, OSError) as error:
        print(f"muster: {error}", file=sys.stderr)
        sys.exit(126)
