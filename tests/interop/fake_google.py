# SPDX-License-Identifier: Apache-2.0
"""The fake of the Cloud TPU API where a client in this process looks for
Google."""
import os
import pathlib
import socket
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fakes"))
# pylint: disable=wrong-import-position
from tpu_api import TpuApi  # noqa: E402

REAL_LOOKUP = socket.getaddrinfo
REAL_CONNECT = socket.socket.connect
OF_GOOGLE = ("GOOGLE_", "GCE_", "CLOUDSDK_", "TPU_", "KUBE_")
HANGS = 60  # s


def is_google(host):
    return str(host).endswith("googleapis.com")


class WithFake(unittest.TestCase):
    """Names that lead to it, and none of the variables that are set here."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="muster-tpu-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.api = TpuApi(folder.name)
        self.enterContext(self.api)
        port = self.api.server.server_port

        # Clients connect to what they have looked up, or to the name.
        def lookup(host, asked_port, *more, **named):
            if is_google(host):
                host, asked_port = "127.0.0.1", port
            return REAL_LOOKUP(host, asked_port, *more, **named)

        def connect(own, address):
            if isinstance(address, tuple) and is_google(address[0]):
                address = ("127.0.0.1", port)
            return REAL_CONNECT(own, address)

        self.enterContext(mock.patch("socket.getaddrinfo", lookup))
        self.enterContext(mock.patch("socket.socket.connect", connect))
        clean = {name: value for name, value in os.environ.items()
                 if "proxy" not in name.lower()
                 and not name.startswith(OF_GOOGLE)}
        clean.update(HOME=folder.name, NO_GCE_CHECK="true")
        self.enterContext(mock.patch.dict(os.environ, clean, clear=True))
