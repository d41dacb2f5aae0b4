#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`srun muster run -- CMD` under a real Slurm with two nodes, by the script of
examples/slurm."""
import os
import pathlib
import re
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "lab")]
import namespaces  # noqa: E402
import slurm  # noqa: E402
from interop_python import interop_python, skip  # noqa: E402
from muster_test import (MUSTER, MusterTest, alive,  # noqa: E402
                         clean_environment, wait_until)

if reason := namespaces.why_not() or slurm.why_not():
    skip(reason)
PYTHON = str(interop_python("torch"))
PROGRAM = str(HERE / "all_reduce_program.py")
SCRIPT = str(HERE.parents[1] / "examples" / "slurm" / "train.sbatch")


class SlurmRun(MusterTest):
    @classmethod
    def setUpClass(cls):
        namespaces.sweep()
        cls.lab = cls.enterClassContext(namespaces.Lab(0, 2))
        cls.slurm = slurm.Slurm(cls.lab)

    def begin(self, *argv, **variables):
        """A command of Slurm, typed on the first node."""
        environment = clean_environment(**self.slurm.environment,
                                        **variables)
        environment["PATH"] += f":{pathlib.Path(MUSTER).parent}"
        out = open(self.folder / "out", "w")
        self.addCleanup(out.close)
        return self.lab.hosts[0].start(
            list(argv), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=out,
            stderr=out, env=environment)

    def said(self):
        """What the command printed, and the script that it started."""
        return "".join(path.read_text() for path in [
            self.folder / "out", *self.folder.glob("train-*.log")])

    def finish(self, *argv):
        """Its exit code and what it printed."""
        code = self.begin(*argv).wait(300)
        return code, self.said()

    def has_ended(self, pids):
        wait_until(lambda: not any(alive(pid) for pid in pids), 60,
                   f"no process of {pids}")

    def job_has_ended(self):
        try:
            wait_until(lambda: not self.slurm.ask("squeue", "-h"), 60,
                       "the job ends")
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.said()}") from error

    def sleepers(self, **variables):
        """Starts ranks that sleep; the job and their processes."""
        job = self.begin(
            "sbatch", SCRIPT, "sh", "-c",
            'echo $$ >"pid-$RANK.new"; mv "pid-$RANK.new" "pid-$RANK"; '
            "sleep 600 & wait", **variables)
        self.assertEqual(job.wait(60), 0, self.said())
        files = [self.folder / f"pid-{rank}" for rank in range(2)]
        wait_until(lambda: all(one.exists() for one in files), 120,
                   f"the ranks start: {self.said()}")
        return (re.search(r"Submitted batch job (\d+)", self.said()).group(1),
                [int(one.read_text()) for one in files])

    def test_ranks_on_two_nodes_reduce(self):
        code, said = self.finish("sbatch", "--wait", SCRIPT, PYTHON, PROGRAM)
        self.assertEqual(code, 0, said)
        self.assertIn("rank 0 of 2 on w-0: sum 3 to 3", said)
        self.assertIn("rank 1 of 2 on w-1: sum 3 to 3", said)
        self.assertIn("all 2 ranks succeeded, exit code 0", said)
        self.assertEqual(list(self.folder.glob(".muster-*")), [])

    def test_a_rank_that_fails_ends_the_job_with_its_cause(self):
        code, said = self.finish("sbatch", "--wait", SCRIPT, PYTHON, PROGRAM,
                                 "1")
        self.assertEqual(code, 7, said)
        self.assertIn("error[app-exception] rank 1 exited with status 7",
                      said)
        self.assertIn("victims   rank 0: muster stopped it", said)
        self.assertEqual(self.slurm.ask("squeue", "-h"), "")

    def test_srun_alone_needs_the_token_that_the_refusal_asks_for(self):
        code, said = self.finish("srun", "-N2", "muster", "run", "--",
                                 "/bin/true")
        self.assertEqual(code, 2, said)
        self.assertIn("MUSTER_TOKEN_FILE", said)
        token = self.folder / "token"
        token.write_bytes(os.urandom(32).hex().encode())
        token.chmod(0o600)
        code, said = self.finish("srun", "-N2", "muster", "run",
                                 "--token-file", str(token), "--", "/bin/true")
        self.assertEqual(code, 0, said)

    def test_scancel_ends_ranks_and_names_the_signal(self):
        job, pids = self.sleepers()
        self.slurm.ask("scancel", job)
        self.has_ended(pids)
        self.job_has_ended()
        self.assertIn("SIGTERM", self.said())

    def test_a_killed_agent_ends_the_job(self):
        # Nobody starts it again, so nobody needs to be waited for.
        _, pids = self.sleepers(MUSTER_MAX_RESTARTS="0")
        agent = self.parents(pids[1])[2]  # guardian, warden, agent
        os.kill(agent, 9)
        self.has_ended(pids)
        self.job_has_ended()
        self.assertIn("error[peer-died] rank 1 was lost with the agent at w-1",
                      self.said())
        self.assertIn("exit code 75", self.said())

    @staticmethod
    def parents(pid):
        found = []
        while pid > 1:
            stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
            pid = int(stat.rpartition(")")[2].split()[1])
            found.append(pid)
        return found


if __name__ == "__main__":
    unittest.main(verbosity=2)
