#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Something that is no member and takes connections: strangers.py KIND PORT.

Prints "ready" when it listens.
"""
import socket
import struct
import sys

ANSWERS = {
    "http": b"HTTP/1.0 404 Not Found\r\nServer: lab\r\n\r\n",
    "proxy": b"HTTP/1.1 403 Forbidden\r\nVia: 1.1 lab\r\n\r\n",
    "ssh": b"SSH-2.0-OpenSSH_9.2\r\n",
    "tls": b"\x15\x03\x03\x00\x02\x02\x32",
    "grpc": b"\x00\x00\x00\x04\x00\x00\x00\x00\x00",
}


def serve(kind, port):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("0.0.0.0", port))
    listener.listen(128)
    print("ready", flush=True)
    kept = []
    listener.settimeout(0.3 if kind == "drip" else None)
    while True:
        try:
            kept.append(listener.accept()[0])
        except TimeoutError:
            for one in kept:
                try:
                    one.send(b"M")
                except OSError:
                    pass
            continue
        if kind in ANSWERS:
            kept[-1].settimeout(2)
            if kind not in ("ssh", "grpc"):
                kept[-1].recv(16)
            kept[-1].send(ANSWERS[kind])
        elif kind == "reset":
            kept[-1].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                struct.pack("ii", 1, 0))
            kept.pop().close()
        elif kind == "close":
            kept.pop().close()
        # silent and drip: kept open


if __name__ == "__main__":
    try:
        serve(sys.argv[1], int(sys.argv[2]))
    except KeyboardInterrupt:
        pass  # who started it ends it
