#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends to an address all that the link carries: flood.py ADDRESS.

Several sockets, so that more of theirs than of anybody else's waits in the
queue of the link. A send waits while its socket has a buffer full in there.
Prints a line when it begins.
"""
import socket
import sys
import threading

SOCKETS = 5
PORT = 9  # discard


def flood(address):
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    while True:
        out.sendto(b"f" * 1400, (address, PORT))


if __name__ == "__main__":
    print("ready", flush=True)
    for _ in range(SOCKETS - 1):
        threading.Thread(target=flood, args=(sys.argv[1],),
                         daemon=True).start()
    flood(sys.argv[1])
