# SPDX-License-Identifier: Apache-2.0
"""What tests share that reach the workers of a TPU VM: hosts that are network
namespaces with a real sshd each, whose addresses the fake of the API tells."""
import os
import pathlib
import re
import sys

TESTS = pathlib.Path(os.environ["MUSTER_SOURCE"], "tests")
sys.path[:0] = [str(TESTS / "lab"), str(TESTS / "fakes")]
# pylint: disable=wrong-import-position
import namespaces  # noqa: E402
import ssh  # noqa: E402
import tpu_vm  # noqa: E402
from left import LeavesNothing  # noqa: E402
from muster_test import Running, wait_until  # noqa: E402
from tpu_api import TpuApi  # noqa: E402

if reason := namespaces.why_not() or ssh.why_not():
    print(f"skipped: {reason}")
    sys.exit(77)

# A program that says who it is, and waits for whatever ends it.
SLEEPS = ("sh", "-c", 'echo $$ >"$HOME/pid.new"; '
          'mv "$HOME/pid.new" "$HOME/pid"; sleep 600 & wait')


class Tpu(LeavesNothing):
    accelerator, size = "v4-32", 4

    def setUp(self):
        super().setUp()
        namespaces.sweep()
        self.lab = self.enterContext(namespaces.Lab(3, self.size + 1))
        *self.workers, self.user = self.lab.hosts
        self.members = self.workers
        self.ssh = ssh.Ssh(self.lab)
        self.api = self.enterContext(namespaces.inside(
            self.user.space, lambda: TpuApi(self.lab.folder)))
        self.tpu = tpu_vm.TpuVm(self.lab, self.ssh, self.api, self.accelerator)
        self.servers = set()

    def serve(self, *hosts, **options):
        for host in hosts or self.workers:
            self.servers.add(
                self.ssh.serve(host, own_home=True, **options).pid)

    def begin(self, *argv, **variables):
        """Typed on the user's machine."""
        *prefix, script = self.user.command(["env"])
        return Running(self, argv, self.folder,
                       self.tpu.environment(**variables),
                       prefix=[*prefix, script + ' "$@"', "sh"])

    def play(self, *argv, **variables):
        done = self.begin(*argv, **variables).wait()
        # Every secret of the fake has this word in it.
        self.assertNotIn("canary", done.out + done.err)
        return done

    def said(self, done):
        """stderr in one line: it is as wide as the terminal."""
        return " ".join(done.err.split())

    def home(self, worker):
        return self.ssh.home(self.workers[worker])

    def await_sleepers(self, workers):
        files = [self.home(worker) / "pid" for worker in workers]
        wait_until(lambda: all(one.exists() for one in files), 120,
                   "the programs start")

    def labels(self, done):
        """worker -> label, of those that could not be asked."""
        return {int(worker): label for label, worker in re.findall(
            r"error\[([a-z-]+)\] ssh to worker (\d) of `t`", done.err)}
