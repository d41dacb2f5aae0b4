# SPDX-License-Identifier: Apache-2.0
"""What tests share that change something by `muster tpu` against
tests/fakes/tpu_api, whose clock runs faster."""
import json
import os
import pty
import shutil
import subprocess
import time

from muster_test import wait_until
from tpu_case import HANGS, MUSTER, TpuCase

WEST, EUROPE = "us-west4-a", "europe-west4-b"
TYPE = "v5litepod-8"
FAST = ["--poll", "20ms"]


def node(name="t", zone=WEST):
    return f"projects/p/locations/{zone}/nodes/{name}"


def queued(name="t", zone=WEST):
    return f"projects/p/locations/{zone}/queuedResources/{name}"


class ChangeCase(TpuCase):
    """Ten minutes of the cloud pass in a third of a second, and nothing is
    known from before."""

    def setUp(self):
        super().setUp()
        shutil.rmtree(self.folder / ".local", ignore_errors=True)
        self.cloud = self.api.cloud
        self.api.clock.set_speed(2000)

    def token_variables(self):
        # Nobody here is asked for a second token, however late it is.
        self.api.identity.LIFE_S = 10 ** 9
        return {"CLOUDSDK_AUTH_ACCESS_TOKEN": self.api.token()}

    def muster(self, *argv, **variables):
        return self.without_login(*argv,
                                  **{**self.token_variables(), **variables})

    def create(self, *argv, zone=("--zone", WEST), **variables):
        return self.muster("create", "t", "--type", TYPE, *zone, "--reach",
                           "none", "--yes", *FAST, *argv, **variables)

    def lines(self):
        """The journal."""
        path = self.folder / ".local/state/muster/tpu.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()]

    def steps(self):
        return [line["step"] for line in self.lines()]

    def posts(self):
        return self.api.asked("/(nodes|queuedResources)\\?", "POST")

    def begin(self, *argv, **options):
        """The program, still at work; ended with the test."""
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder),
                       "NO_GCE_CHECK": "true", **self.api.environment(),
                       **self.token_variables()}
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                   "stderr": subprocess.PIPE, **options}
        process = subprocess.Popen([MUSTER, "tpu", *argv], env=environment,
                                   text=True, **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()

    def ask(self, *argv, answer, after=0):
        """The program, ended, and what it showed to a person at a terminal who
        answers after so many seconds."""
        master, slave = pty.openpty()
        process = self.begin(*argv, stdin=slave, stderr=slave)
        os.close(slave)
        shown = ""
        while "[y/N]" not in shown:
            shown += os.read(master, 1000).decode()
        time.sleep(after)  # the person thinks
        os.write(master, answer.encode())
        self.finish(process)
        os.close(master)
        return process, shown

    def finish(self, process):
        """Its stderr, once it has ended by itself or was told to."""
        out, err = process.communicate(timeout=HANGS)
        self.assertNotIn("canary", (out or "") + (err or ""))
        return err

    def tearDown(self):
        # Nor is a secret written down.
        for path in self.folder.glob(".local/state/muster/*"):
            self.assertNotIn("canary", path.read_text())
        super().tearDown()

    def until(self, true, what):
        wait_until(true, HANGS, what)

    def begin_create(self, *argv):
        """A creation that the cloud is busy with, by a program that waits."""
        self.api.clock.set_speed(0)
        process = self.begin("create", "t", "--type", TYPE, "--reach", "none",
                             "--yes", "--wait", *FAST, *argv)
        return process

    def settled(self):
        """What is left over once the cloud has done all that it was told."""
        self.api.clock.set_speed(1)
        self.api.clock.advance(7200)
        return self.cloud.left_over()

    def found(self, done, cause, code):
        return self.finding(done, cause, code)["what"]
