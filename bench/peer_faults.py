#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How muster check, TensorFlow, JAX and torchrun report the same faults.

  bench/peer_faults.py               all of them, a table on stdout
  bench/peer_faults.py --only WORD   faults whose name has the word
  bench/peer_faults.py --page docs/reference/peer-faults.md

Plays faults of tests/lab on hosts that are network namespaces, three of them
unless a fault needs more. Output is timed from the moment at which all
processes have imported what they need and get the line to start.

$MUSTER_BINARY is the program, $MUSTER_INTEROP_PYTHON a Python with torch,
tensorflow and jax. Asserts nothing. Exit code 77: no lab can be made here.
"""
import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent / "tests"
sys.path[:0] = [str(TESTS / "lab"), str(TESTS / "interop"), str(HERE / "peers")]
# pylint: disable=wrong-import-position
import faults  # noqa: E402
import namespaces  # noqa: E402
import output_parser  # noqa: E402
import peer_faults_page  # noqa: E402
import processes  # noqa: E402
import scene  # noqa: E402
import start_signal  # noqa: E402
from interop_python import interop_python  # noqa: E402

# To import everything, three times at once on few cores.
IMPORTING = 300
PACKAGES = ("torch", "tensorflow", "jax")
PROXY_PORT = 3128


def proxy(scene_):
    """The environment of all hosts names a proxy, which forbids everything."""
    scene_.helper(2, "strangers.py", "proxy", PROXY_PORT)
    for variables in scene_.environment.values():
        variables["http_proxy"] = \
            f"http://{scene_.hosts[2].address}:{PROXY_PORT}"


# Rank 0 is where all of them meet, so that is where the fault is.
HEALTHY = scene.Fault("nothing is wrong", "", (), faults.nothing)
TEN = [
    scene.Fault("host down", faults.FILTERED, (0,), faults.down(0)),
    scene.Fault("port refused by a filter", faults.FILTERED, (0,), faults.on(
        0, "input", f"tcp dport {scene.PORT} reject with tcp reset")),
    scene.Fault("one direction of one link filtered", faults.FILTERED, (0, 1),
                lambda scene_: faults.between(scene_, [1], [0])),
    scene.Fault("a name leads to another host", faults.ENDPOINT, (0, 2),
                faults.wrong_name(1, 0, 2)),
    scene.Fault("list in another order on a host", "rank-world-mismatch", (1,),
                faults.other_order),
    scene.Fault("two hosts with one address", faults.ENDPOINT, (0, 2),
                faults.same_address(0, 2, 1)),
    scene.Fault("takes connections, stays silent", faults.ENDPOINT, (0,),
                faults.stranger(0, "silent")),
    scene.Fault("http_proxy that answers 403", "net-proxy", (0, 1, 2), proxy,
                severity="warning", by_named=True),
    scene.Fault("smaller MTU on the way to a host", "net-mtu", (0,),
                faults.small_mtu(0)),
    scene.Fault("blackhole route", faults.FILTERED, (0, 1),
                faults.route("blackhole", 1, 0)),
]


def tensorflow(members, rank):
    config = {"cluster": {"worker": members},
              "task": {"type": "worker", "index": rank}}
    return ["tensorflow_joins.py"], {"TF_CONFIG": json.dumps(config)}


def jax(members, rank):
    return ["jax_joins.py", members[0], str(len(members)), str(rank)], {}


def torchrun(members, rank):
    host, port = members[0].rsplit(":", 1)
    return ["torchrun_starts.py", f"--nnodes={len(members)}",
            "--nproc-per-node=1", f"--node-rank={rank}",
            f"--master-addr={host}", f"--master-port={port}",
            str(HERE / "peers" / "torch_joins.py")], {}


PEERS = {"TensorFlow": tensorflow, "JAX": jax, "torchrun": torchrun}


class Process:
    """One process of a peer, and the lines that come from it."""

    def __init__(self, host, rank, argv):
        self.rank = rank
        self.lines = []  # (monotonic seconds, text)
        self.ready = threading.Event()
        self.process = host.start(argv, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True,
                                  errors="replace")
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for text in self.process.stdout:
            self.lines.append((time.monotonic(), text.rstrip()))
            if text.startswith(start_signal.READY):
                self.ready.set()
        self.ready.set()

    def begin(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()


def peer_command(python, words, variables):
    changes = {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1",
               "PYTHONUNBUFFERED": "1", "JAX_PLATFORMS": "cpu", **variables}
    return ["env", *(f"{name}={value}" for name, value in changes.items()),
            str(python), str(HERE / "peers" / words[0]), *words[1:]]


def play_peer(number, fault, peer, python, seconds):
    """The output of the processes of a peer, and how they end."""
    with namespaces.Lab(number, fault.size) as lab:
        played = scene.Scene(lab, fault.group)
        fault.does(played)
        processes = []
        for host in lab.hosts:
            if host.rank in played.absent:
                continue
            rank = played.ranks.get(host.rank, host.rank)
            words, variables = PEERS[peer](
                played.lists.get(host.rank, played.members), rank)
            processes.append(Process(host, host.rank, peer_command(
                python, words, {**played.environment[host.rank],
                                **variables})))
        return watch(processes, seconds)


def watch(processes, seconds):
    for one in processes:
        if not one.ready.wait(IMPORTING) or one.process.poll() is not None:
            raise AssertionError(f"process {one.rank} does not get ready: "
                                 f"{one.lines[-1:]}")
    began = time.monotonic()
    for one in processes:
        one.begin()

    def over(one):
        return one.process.poll() is not None or \
            any(text.startswith(start_signal.JOINED) for _, text in one.lines)

    while time.monotonic() < began + seconds and not all(map(over, processes)):
        time.sleep(0.2)  # lines have the time at which they came
    exit_codes = {one.rank: one.process.poll() for one in processes}
    lines = [output_parser.Line(one.rank, at - began, text) for one in processes
             for at, text in one.lines if at >= began]
    return output_parser.Output(sorted(lines, key=lambda line: line.at),
                                exit_codes)


def play_muster(number, fault):
    with namespaces.Lab(number, fault.size) as lab:
        played = scene.Scene(lab, fault.group)
        fault.does(played)
        documents, seconds = played.play()
        return output_parser.CheckResult(seconds, documents,
                                         scene.judge([fault], documents))


def play(number, fault, options, python):
    """Everybody's answer to a fault: muster alone, the others together."""
    answers = {"muster check": play_muster(number, fault)}
    with concurrent.futures.ThreadPoolExecutor(len(PEERS)) as pool:
        futures = {peer: pool.submit(play_peer, number + 1 + one, fault, peer,
                                     python, options.seconds)
                   for one, peer in enumerate(PEERS)}
        for peer, future in futures.items():
            answers[peer] = future.result()
    return answers


def versions(python):
    ask = ("import importlib.metadata as m, sys; "
           "print(*(m.version(name) for name in sys.argv[1:]))")
    return dict(zip(("torchrun", "TensorFlow", "JAX"), subprocess.run(
        [python, "-c", ask, "torch", "tensorflow-cpu", "jax"], text=True,
        capture_output=True, check=True).stdout.split()))


def keep(folder, fault, answers):
    folder.mkdir(parents=True, exist_ok=True)
    for name, answer in answers.items():
        file = folder / f"{fault.name} - {name}.json"
        file.write_text(json.dumps(dataclasses.asdict(answer), indent=1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path,
                        help="a folder for all output")
    options = parser.parse_args()
    reason = namespaces.why_not()
    if reason:
        print(f"skipped: {reason}")
        return 77
    python = interop_python(*PACKAGES)
    namespaces.sweep()
    results = []
    rows = [HEALTHY] + [one for one in TEN if options.only in one.name]
    try:
        for number, fault in enumerate(rows):
            results.append((fault, play(10 * number, fault, options, python)))
            if options.keep:
                keep(options.keep, *results[-1])
            print(f"{fault.name}: played", file=sys.stderr, flush=True)
    finally:
        namespaces.sweep()
    text = peer_faults_page.page(results, versions(python), options.seconds)
    if options.page:
        options.page.write_text(text)
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(processes.supervised(main))
