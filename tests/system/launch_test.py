#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two hosts of eight ranks: each form of start, the dry run and `resolve` give
every rank the same place. Hosts are network namespaces; Slurm is a real one."""
import json
import pathlib
import subprocess
import sys
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "lab")]
# pylint: disable=wrong-import-position
import namespaces  # noqa: E402
import slurm  # noqa: E402
from muster_test import (MUSTER, MusterTest, Running,  # noqa: E402
                         clean_environment)

NAMES = ("RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK",
         "GROUP_WORLD_SIZE")
# The host by its address, since the command is the same on both.
SAY = ("echo AT $(ip -4 -o addr show scope global | grep -o '10.77.0.[12]/' | "
       "tr -d /) " + " ".join(f"${name}" for name in NAMES))
COMMAND = ("/bin/sh", "-c", SAY)
HOSTS = ("10.77.0.1", "10.77.0.2")
PLACES = [(HOSTS[rank // 8], rank, rank % 8, 8, rank // 8, 2)
          for rank in range(16)]


def places_in(text):
    found = []
    for line in text.splitlines():
        _, mark, words = line.partition("AT ")
        if mark:
            host, *numbers = words.split()
            found.append((host, *map(int, numbers)))
    return sorted(found, key=lambda place: place[1])


class TwoHosts(MusterTest):
    @classmethod
    def setUpClass(cls):
        if reason := namespaces.why_not():
            raise unittest.SkipTest(reason)
        namespaces.sweep()
        cls.lab = cls.enterClassContext(namespaces.Lab(0, 2))

    def token(self):
        path = self.folder / "token"
        if not path.exists():
            path.write_text("a secret of thirty-two bytes....\n")
            path.chmod(0o600)
        return str(path)

    def start_at(self, host, name, *flags):
        return Running(
            self, ["run", *map(str, flags), "--token-file", self.token(), "--",
                   *COMMAND], self.folder / name,
            prefix=("ip", "netns", "exec", self.lab.hosts[host].space))

    def check(self, running):
        done = [one.wait() for one in running]
        for one in done:
            self.assertEqual(one.code, 0, one.err)
        self.assertEqual(places_in("".join(one.out for one in done)), PLACES)
        self.assertIn("16 ranks on 2 hosts", done[0].err)

    def planned(self, *flags):
        """The places that a dry run gives."""
        done = self.muster("run", *map(str, flags), "--dry-run", "--output",
                           "json", "--", "true")
        self.assertEqual(done.code, 0, done.err)
        return [tuple(int(rank["environment"][name]["value"])
                      for name in NAMES) for rank in done.json["ranks"]]

    def resolved(self, *flags):
        done = self.muster("resolve", *map(str, flags), "--export", "torch")
        self.assertEqual(done.code, 0, done.err)
        values = dict(line.removeprefix("export ").split("=", 1)
                      for line in done.out.splitlines() if "=" in line)
        return tuple(int(values[name].strip("'")) for name in NAMES[:3])

    def agree(self, rank, *flags):
        self.assertEqual(self.planned(*flags), [p[1:] for p in PLACES])
        self.assertEqual(self.resolved(*flags), PLACES[rank][1:4])

    def test_one_agent_on_each_host(self):
        flags = ["--hosts", ",".join(HOSTS), "-n", 8]
        self.check([self.start_at(host, f"h{host}", *flags) for host in (0, 1)])
        self.agree(8, *flags, "--node-rank", 1)

    def test_slots(self):
        flags = ["--hosts", ",".join(f"{host}:8" for host in HOSTS)]
        self.check([self.start_at(host, f"h{host}", *flags) for host in (0, 1)])
        self.agree(0, *flags, "--node-rank", 0)
        hostfile = self.folder / "hosts"
        hostfile.write_text("".join(f"{host} slots=8\n" for host in HOSTS))
        self.agree(8, "--hostfile", hostfile, "--node-rank", 1)

    def test_one_agent_for_each_rank(self):
        flags = ["--hosts", ",".join(f"{host}:{8500 + i}" for host in HOSTS
                                     for i in range(8))]
        self.check([self.start_at(rank // 8, f"r{rank}", *flags, "--rank", rank)
                    for rank in range(16)])
        self.agree(11, *flags, "--rank", 11)

    def test_mixed(self):
        """On the first host one agent a rank, on the second one for all."""
        first = [f"{HOSTS[0]}:{8500 + i}:1" for i in range(8)]
        second = f"{HOSTS[1]}:8500:8"
        flags = ["--hosts", ",".join([*first, second])]
        self.check([self.start_at(0 if node < 8 else 1, f"n{node}", *flags,
                               "--node-rank", node) for node in range(9)])

    def test_the_flags_of_torchrun(self):
        flags = ["--nnodes", 2, "--nproc_per_node", 8, "--master_addr",
                 HOSTS[0]]
        self.check([self.start_at(host, f"h{host}", *flags, "--node_rank", host)
                    for host in (0, 1)])
        self.agree(8, *flags, "--node_rank", 1)

    def test_the_variables_of_torchs_launcher(self):
        environment = clean_environment(
            PET_NNODES="2", PET_NODE_RANK="1", PET_NPROC_PER_NODE="8",
            PET_MASTER_ADDR=HOSTS[0], PET_MASTER_PORT="29500")
        for words in (["run", "--dry-run", "--output", "json", "--", "true"],
                      ["resolve", "--export", "torch"]):
            done = subprocess.run([MUSTER, *words], env=environment,
                                  cwd=self.folder, capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            if words[0] == "run":
                ranks = json.loads(done.stdout)["ranks"]
                self.assertEqual(
                    [int(one["environment"]["LOCAL_RANK"]["value"])
                     for one in ranks], [p[2] for p in PLACES])
            else:
                self.assertIn("RANK='8'", done.stdout)
                self.assertIn("LOCAL_WORLD_SIZE='8'", done.stdout)


class TwoNodesOfSlurm(MusterTest):
    @classmethod
    def setUpClass(cls):
        if reason := namespaces.why_not() or slurm.why_not():
            raise unittest.SkipTest(reason)
        namespaces.sweep()
        cls.lab = cls.enterClassContext(namespaces.Lab(0, 2))
        cls.slurm = slurm.Slurm(cls.lab)

    def srun(self, *words):
        token = self.folder / "token"
        token.write_text("a secret of thirty-two bytes....\n")
        token.chmod(0o600)
        environment = clean_environment(**self.slurm.environment,
                                        MUSTER_TOKEN_FILE=str(token))
        with open(self.folder / "out", "w+") as out:
            process = self.lab.hosts[0].start(
                ["srun", "-N2", "--overcommit", *words, "--", *COMMAND],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=out,
                stderr=out, env=environment)
            code = process.wait(240)
            out.seek(0)
            text = out.read()
        self.assertEqual(code, 0, text)
        self.assertEqual(places_in(text), PLACES)

    def test_a_task_for_each_rank(self):
        self.srun("--ntasks-per-node=8", MUSTER, "run")

    def test_a_task_for_each_node(self):
        self.srun("--ntasks-per-node=1", MUSTER, "run", "-n", "8")


if __name__ == "__main__":
    unittest.main()
