#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a mesh of many members takes: bench/mesh.py [--members 64].

Starts so many processes of `muster check network.reach` on this machine, each
at an address of its own of the loopback, and prints the time from the completed
roll call (the last member was heard of by all) to the last verdict, the time
from the first start, and the processor time of all of them. All members share
the cores of this machine, which those of a cluster do not.

$MUSTER_BINARY is the program.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

import processes


def play(members, port):
    hosts = ",".join(f"127.0.7.{rank + 1}:{port}" for rank in range(members))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    processes = [
        subprocess.Popen([os.environ["MUSTER_BINARY"], "check", "network.reach",
                          "--output", "json", "--hosts", hosts,
                          "--rank", str(rank)],
                         stdout=subprocess.PIPE, text=True)
        for rank in range(members)]
    documents = [json.loads(process.communicate()[0]) for process in processes]
    seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    data = [document["checks"][-1]["data"] for document in documents]
    return {
        "since_roll_call": max(one["seconds_since_roll_call"] for one in data),
        "since_start": seconds,
        "cpu": after.ru_utime + after.ru_stime - before.ru_utime -
        before.ru_stime,
        "whole": sum(1 for one in data if one["members_heard"] == members),
        "findings": sum(len(one["findings"]) for one in documents),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--members", type=int, default=64)
    parser.add_argument("--port", type=int, default=28476)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rounds = []
    for _ in range(options.rounds):
        one = play(options.members, options.port)
        rounds.append(one)
        print(f"{one['since_roll_call']:6.2f} s since the roll call  "
              f"{one['since_start']:6.2f} s since the start  "
              f"{one['cpu']:6.2f} s of processor time  "
              f"{one['whole']} of {options.members} know all  "
              f"{one['findings']} findings", flush=True)
    print(f"median {statistics.median(o['since_roll_call'] for o in rounds):.2f}"
          f" s since the roll call, load of the machine "
          f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    sys.exit(processes.supervised(main))
