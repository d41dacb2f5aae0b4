#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's TPUClusterResolver against tests/fakes/tpu_api: tpu_resolver.py,
in the Python that has it."""
import os
import pathlib
import sys

from interop_python import interop_python

python = interop_python("googleapiclient", "oauth2client", "tensorflow")
script = pathlib.Path(__file__).with_name("tpu_resolver.py")
os.execv(python, [str(python), str(script), *sys.argv[1:]])
