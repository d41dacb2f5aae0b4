#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`muster tpu list` beside Google's Python client for the same call, each as a
process, against tests/fakes/tpu_api that answers after 20 ms. Exits with 1 when
muster's median is above its goal, or it asked more than twice.

  MUSTER_CLOUD_PYTHON=PYTHON bench/tpu_list.py [json]

PYTHON is one with google-cloud-tpu; without it the program is measured alone.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import goals
import processes
from process_times import MUSTER

SOURCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "tests" / "fakes"))
# pylint: disable=wrong-import-position
from tpu_api import TpuApi  # noqa: E402

ROUNDS = 21
SERVER_S = 0.020
GOAL_MS = 100
MOST_REQUESTS = 2
ZONE = "us-west4-a"
CLIENT = """
import os
from google.cloud import tpu_v2
from google.oauth2.credentials import Credentials
client = tpu_v2.TpuClient(credentials=Credentials(os.environ["TOKEN"]),
                          transport="rest",
                          client_options={"api_endpoint": os.environ["API"]})
for node in client.list_nodes(parent="projects/p/locations/us-west4-a"):
    print(node.name)
"""


def timed(argv, environment):
    """Milliseconds until it has ended well and listed the one TPU."""
    began = time.monotonic()
    done = subprocess.run(argv, env=environment, capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, timeout=120,
                          check=False)
    took = 1e3 * (time.monotonic() - began)
    if done.returncode != 0 or "first" not in done.stdout:
        sys.exit(f"{argv[0]}: exit code {done.returncode}: {done.stderr}")
    return took


def measure(api, python):
    """(ms of muster, ms of the client, most requests of one `muster`)"""
    plain = {"PATH": "/usr/bin:/bin", "HOME": api.folder}
    of_muster = {**plain, **api.environment(), "NO_GCE_CHECK": "true",
                 "CLOUDSDK_AUTH_ACCESS_TOKEN": api.token()}
    of_client = {**plain, "REQUESTS_CA_BUNDLE": api.ca, "API": api.url,
                 "TOKEN": api.token()}
    ours, theirs, requests = [], [], 0
    for _ in range(ROUNDS):
        api.requests.clear()
        ours.append(timed([MUSTER, "tpu", "list", "--zone", ZONE], of_muster))
        requests = max(requests, len(api.requests))
        if python:
            theirs.append(timed([python, "-c", CLIENT], of_client))
    return ours, theirs, requests


def main():
    python = os.environ.get("MUSTER_CLOUD_PYTHON", "")
    with tempfile.TemporaryDirectory(prefix="muster-bench-") as folder, \
            TpuApi(folder) as api:
        api.delay_s = SERVER_S
        api.cloud.add_node(ZONE, "first", "v5litepod-8")
        ours, theirs, requests = measure(api, python)
    ratios = [goals.Ratio("muster tpu list", tuple(ours), most=GOAL_MS,
                          unit=" ms"),
              goals.Ratio("google-cloud-tpu, list_nodes", tuple(theirs),
                          unit=" ms"),
              goals.Ratio("requests of one muster tpu list", (requests,),
                          most=MOST_REQUESTS)]
    if "json" in sys.argv:
        print(json.dumps([one.as_json() for one in ratios]))
    else:
        print("a list of TPUs from a server 20 ms away, in ms: median and "
              "range")
        goals.print_ratios(ratios)
        if not python:
            print("  the client was not measured: MUSTER_CLOUD_PYTHON names no "
                  "Python")
    sys.exit(any(one.met is False for one in ratios))


if __name__ == "__main__":
    sys.exit(processes.supervised(main))
