#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""muster check --target against real servers of TensorFlow, JAX and torch: it
says who they are, and they go on as if nobody had asked."""
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / "support"))
# pylint: disable=wrong-import-position
from interop_python import interop_python, skip  # noqa: E402
from muster_test import (MUSTER, MusterTest, clean_environment,  # noqa: E402
                         free_port, wait_until)

HERE = pathlib.Path(__file__).parent
TF_STEPS = 1000
JAX_ROUNDS = 1000
NEW_JAX = os.environ.get("MUSTER_NEW_JAX_PYTHON")
START = 120  # seconds in which a framework has been imported


class Targets(MusterTest):
    def begin(self, python, *argv, **variables):
        """A program of a peer; its output is in a file of its own."""
        self.begun = getattr(self, "begun", 0) + 1
        log = open(self.folder / f"peer{self.begun}", "w+")
        self.addCleanup(log.close)
        peer = subprocess.Popen(
            [python, *map(str, argv)], stdin=subprocess.DEVNULL, stdout=log,
            stderr=subprocess.STDOUT, cwd=self.folder,
            env=clean_environment(CUDA_VISIBLE_DEVICES="",
                                  TMPDIR=str(self.folder), **variables))
        self.addCleanup(self.end, peer)
        peer.log = pathlib.Path(log.name)
        return peer

    @staticmethod
    def end(peer):
        if peer.poll() is None:
            peer.kill()
        peer.wait()

    def ask(self, *argv, code=None, **variables):
        """The document of `muster check` and what it says of each target."""
        done = subprocess.run(
            [MUSTER, "check", "--output", "json", "--wait", "10s",
             *map(str, argv)], capture_output=True, text=True, timeout=120,
            cwd=self.folder, env=clean_environment(**variables))
        document = json.loads(done.stdout)
        if code is not None:
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        document["targets"] = document["checks"][0]["data"]["targets"]
        return document

    def who(self, place):
        """Who answers at the only target, "" while nobody does."""
        [target] = self.ask("--target", place)["targets"]
        return target.get("who", "")

    def ask_until_ended(self, peers, ask):
        """Asks again and again while all peers run."""
        while all(peer.poll() is None for peer in peers):
            ask()

    def assert_finished(self, peers, pattern):
        """All peers end well and print the pattern; what it found in each."""
        found = []
        for peer in peers:
            self.assertEqual(peer.wait(START), 0, peer.log.read_text()[-3000:])
            found += re.findall(pattern, peer.log.read_text())
        self.assertTrue(found, pattern)
        return found

    def train(self, folder, ask):
        """Two workers of TensorFlow from the first start on; the loss."""
        python = interop_python("tensorflow")
        places = [f"127.0.0.1:{free_port()}" for _ in range(2)]

        def config(index, order=(0, 1)):
            return {"TF_CONFIG": json.dumps(
                {"cluster": {"worker": [places[at] for at in order]},
                 "task": {"type": "worker", "index": index}})}

        def start(index):
            return self.begin(python, HERE / "tf_program.py",
                              self.folder / folder, TF_STEPS, **config(index))

        leader = start(0)
        if ask:
            wait_until(lambda: "missing: task 1 of worker"
                       in self.who(f"tf://{places[0]}"), START,
                       "the leader waits for task 1")
            for _ in range(5):
                self.assertIn("task 0 of worker", self.who(places[0]))
        workers = [leader, start(1)]
        if ask:
            wait_until(lambda: "2 of 2 tasks connected"
                       in self.who(f"grpc://{places[0]}"), START,
                       "both workers are connected")
            compared = []
            self.ask_until_ended(
                workers,
                lambda: compared.append(self.check_workers(config)))
            self.assertIn(True, compared)
        [loss] = self.assert_finished(
            workers, rf"finished step {TF_STEPS}, loss (\S+)")
        return loss

    def check_workers(self, config):
        """Both are in their places; in another order, they are named. Whether
        they lived long enough to tell."""
        def have_ended(document):
            return any("missed" in target for target in document["targets"]
                       ) or any(finding["cause"] == "peer-died"
                                for finding in document["findings"])

        document = self.ask("--framework", "tf", "--replicas", "2", **config(0))
        if have_ended(document):
            return False
        self.assertEqual(document["summary"]["exit"], 0, document)
        tasks = [(target["task"]["job"], target["task"]["index"])
                 for target in document["targets"]]
        self.assertEqual(tasks, [("worker", 0), ("worker", 1)])
        self.assertEqual([task["state"] for task
                          in document["targets"][0]["tasks"]],
                         ["connected", "connected"])
        turned = self.ask("--framework", "tf", **config(0, order=(1, 0)))
        if have_ended(turned):
            return False
        self.assertIn("the order of the list differs", turned["findings"][0]["what"])
        return True

    def test_tensorflow_trains_as_if_nobody_had_asked(self):
        alone = self.train("alone", ask=False)
        asked = self.train("asked", ask=True)
        self.assertEqual(asked, alone)

    def test_jax_synchronises_as_if_nobody_had_asked(self):
        self.synchronise(interop_python("jax"), " of jax_worker")

    @unittest.skipUnless(NEW_JAX, "$MUSTER_NEW_JAX_PYTHON names no Python with "
                                  "JAX 0.10, which has XLA's own dialect")
    def test_a_newer_jax_synchronises_as_if_nobody_had_asked(self):
        self.synchronise(NEW_JAX, "")

    def synchronise(self, python, job):
        place = f"127.0.0.1:{free_port()}"

        def start(process):
            return self.begin(python, HERE / "jax_program.py", place, 2,
                              process, JAX_ROUNDS)

        first = start(0)
        wait_until(lambda: f"missing: task 1{job})"
                   in self.who(f"jax://{place}"), START,
                   "the service waits for process 1")
        for _ in range(20):
            self.assertIn(f"registered: task 0{job}", self.who(place))
        peers = [first, start(1)]
        connected = []

        def ask():
            who = self.who(f"jax://{place}")
            if who and "2 of 2 tasks connected" in who:
                connected.append(who)

        self.ask_until_ended(peers, ask)
        self.assertGreater(len(connected), 2)
        totals = self.assert_finished(
            peers, rf"finished {JAX_ROUNDS} rounds, total (\d+)")
        self.assertEqual(totals, [str(JAX_ROUNDS * (JAX_ROUNDS - 1))] * 2)

    def count(self, backend):
        python = interop_python("torch")
        port = free_port()
        end = self.folder / f"end-{backend}"
        store = self.begin(python, HERE / "store_program.py", port, backend,
                           end)
        wait_until(lambda: "counts" in store.log.read_text(), START,
                   "the store counts")
        said = set()
        for _ in range(10):
            said.add(self.who(f"tcpstore://127.0.0.1:{port}"))
        end.touch()
        keys = self.assert_finished([store], r"finished with (\d+) keys")
        # Asking adds no key and joins nowhere; the first round may add some.
        self.assertIn(f"a torch TCPStore ({keys[0]} keys, 1 joined)", said)
        self.assertTrue(all("1 joined" in who for who in said), said)

    def test_a_store_on_libuv_counts_as_if_nobody_had_asked(self):
        self.count("libuv")

    def test_a_store_that_polls_counts_as_if_nobody_had_asked(self):
        self.count("poll")


if __name__ == "__main__":
    if os.environ.get("MUSTER_GRPC", "1") != "1":
        skip("muster was built without gRPC")
    interop_python("tensorflow", "jax", "torch")
    unittest.main(verbosity=2)  # which says why one is skipped
