# SPDX-License-Identifier: Apache-2.0
"""Time that goes faster than time."""
import datetime
import threading
import time


class VirtualClock:
    """Seconds since 1970: `speed` of them pass in one real second, and more
    when a test says so. Any thread."""

    def __init__(self, speed=1.0):
        self.speed = speed
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self._base = time.time()

    def now(self):
        with self._lock:
            return self._base + (time.monotonic() - self._began) * self.speed

    def set_speed(self, speed):
        with self._lock:
            now = time.monotonic()
            self._base += (now - self._began) * self.speed
            self._began, self.speed = now, speed

    def advance(self, seconds):
        with self._lock:
            self._base += seconds


def timestamp(seconds):
    """RFC 3339 with nine digits, as Google writes it."""
    at = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return at.strftime("%Y-%m-%dT%H:%M:%S.%f") + "000Z"
