#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Google's own clients against tests/fakes/tpu_api: tpu_clients.py, in the
Python that has them."""
import os
import pathlib
import sys

from interop_python import interop_python

python = interop_python("google.auth", "google.cloud.tpu_v2", "requests",
                        kind="cloud")
script = pathlib.Path(__file__).with_name("tpu_clients.py")
os.execv(python, [str(python), str(script), *sys.argv[1:]])
