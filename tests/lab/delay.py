#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds back what this host sends to another: delay.py OWN OTHER MILLISECONDS.

For kernels without netem: packets to OTHER are routed into a TUN device, read
here and sent on through eth0 when their time has come. Prints a line when they
are.
"""
import collections
import fcntl
import os
import select
import socket
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000


def main(own, other, delay):
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF,
                struct.pack("16sH", b"lab0", IFF_TUN | IFF_NO_PI))
    for words in (["link", "set", "lab0", "up", "txqueuelen", "5000"],
                  ["route", "add", other, "dev", "lab0", "src", own]):
        subprocess.run(["ip"] + words, check=True)
    out = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    out.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"eth0")
    out.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8 << 20)
    print("ready", flush=True)
    held = collections.deque()
    while True:
        due = None if not held else max(0, held[0][0] - time.monotonic())
        if select.select([tun], [], [], due)[0]:
            held.append((time.monotonic() + delay, os.read(tun, 65536)))
        while held and held[0][0] <= time.monotonic():
            packet = held.popleft()[1]
            if packet[0] >> 4 == 4:
                out.sendto(packet, (other, 0))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]) / 1000)
