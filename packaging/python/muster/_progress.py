# SPDX-License-Identifier: Apache-2.0
"""muster.step: one line of text a step, on the socket of the agent.

The line is `step=N loss=X rate=Y` and a newline: ASCII, `key=value` joined by
spaces, `step` first, values as float() reads them. MUSTER_PROGRESS is the path
of a Unix socket (datagram or stream; `@name` is an abstract one), so that any
language can say the same.
"""
from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from typing import Dict, Optional, SupportsFloat, Tuple

_open: Optional[Tuple[str, socket.socket]] = None


def step(n: int, loss: Optional[SupportsFloat] = None,
         **values: SupportsFloat) -> None:
    """Says that step n has ended.

    Does nothing where muster does not run, never raises and never blocks: what
    the agent cannot take at once is dropped. A loss that lies on a device is
    fetched, which waits for the device, as float(loss) does.
    """
    address = os.environ.get("MUSTER_PROGRESS")
    if not address:
        return
    try:
        _send(address, _line(n, loss, values))
    except Exception:  # pylint: disable=broad-except
        _close()


def _line(n: int, loss: Optional[SupportsFloat],
          values: Dict[str, SupportsFloat]) -> bytes:
    words = [f"step={int(n)}"]
    if loss is not None:
        words.append(f"loss={float(loss)!r}")
    words += [f"{name}={float(value)!r}" for name, value in values.items()]
    return (" ".join(words) + "\n").encode("ascii")


def _send(address: str, line: bytes) -> None:
    global _open  # pylint: disable=global-statement
    if _open is None or _open[0] != address:
        _close()
        _open = (address, _connect(address))
    try:
        sent = _open[1].send(line)
    except BlockingIOError:
        return
    if sent < len(line):
        _close()  # of a stream; its reader drops what has no end


def _connect(address: str) -> socket.socket:
    import socket
    path = "\0" + address[1:] if address.startswith("@") else address
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        end = socket.socket(socket.AF_UNIX, kind)
        end.setblocking(False)
        try:
            end.connect(path)
            return end
        except OSError as error:
            end.close()
            reason = error
    raise reason


def _close() -> None:
    global _open  # pylint: disable=global-statement
    if _open is not None:
        _open[1].close()
        _open = None
