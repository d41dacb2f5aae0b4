# SPDX-License-Identifier: Apache-2.0
"""A cluster of Slurm on the hosts of a lab: munged, slurmctld on the first
host, slurmd on each, from Debian's packages and with files of their own."""
import os
import pathlib
import shutil
import subprocess
import time

PACKAGES = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd",
            "srun": "slurm-client"}
# Of a cluster that does not come up at all.
HUNG = 120

# Where a network namespace is entered, /sys shows no control groups; what does
# not limit anybody needs none.
CGROUP = "CgroupPlugin=cgroup/v1\nCgroupMountpoint={folder}/no-cgroup\n"
CONF = """
ClusterName=lab
SlurmctldHost={first}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
StateSaveLocation={folder}/state
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdLogFile={folder}/slurmd.%n.log
SlurmdSpoolDir={folder}/spool.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SlurmdParameters=config_overrides
NodeName={nodes} CPUs=2 Sockets=1 CoresPerSocket=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def why_not():
    """Why there can be no Slurm here; None: there can."""
    for tool, package in PACKAGES.items():
        if not shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin"):
            return f"there is no `{tool}`: apt-get install {package}"
    return None


class Slurm:
    """The cluster of a lab, which ends its processes."""

    def __init__(self, lab):
        self.lab = lab
        self.folder = pathlib.Path(lab.folder, "slurm")
        for name in ("munge", "state"):
            (self.folder / name).mkdir(parents=True)
        for host in lab.hosts:
            host.known.update({one.name: one.address for one in lab.hosts})
            (self.folder / f"spool.{host.name}").mkdir()
        self._configure()
        self._start()
        self._await_nodes()

    def _configure(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o400)
        words = {"folder": self.folder, "first": self.lab.hosts[0].name,
                 "nodes": ",".join(host.name for host in self.lab.hosts)}
        (self.folder / "slurm.conf").write_text(CONF.format(**words))
        (self.folder / "cgroup.conf").write_text(CGROUP.format(**words))
        self.environment = {
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "PATH": os.environ["PATH"] + ":/usr/sbin"}

    def _start(self):
        munge = self.folder / "munge"
        # --force: the lab's folder is below /tmp, which others may write to.
        self._daemon(self.lab.hosts[0], "munged", "--foreground", "--force",
                     "--key-file", self.folder / "munge.key",
                     "--socket", munge / "socket", "--pid-file", munge / "pid",
                     "--log-file", munge / "log", "--seed-file", munge / "seed")
        self._daemon(self.lab.hosts[0], "slurmctld", "-D")
        for host in self.lab.hosts:
            self._daemon(host, "slurmd", "-D")

    def _daemon(self, host, *argv):
        with open(self.folder / f"{argv[0]}.{host.name}.out", "w") as out:
            host.start([str(word) for word in argv], stdin=subprocess.DEVNULL,
                       stdout=out, stderr=out,
                       env={**os.environ, **self.environment})

    def _await_nodes(self):
        end = time.monotonic() + HUNG
        wanted = f"idle {len(self.lab.hosts)}"
        # It refuses until it is up.
        while wanted not in self._run("sinfo", "-h", "-o", "%T %D").stdout:
            if time.monotonic() > end:
                raise AssertionError("no Slurm came up:\n" + self.logs())
            time.sleep(0.1)  # between two questions to Slurm

    def _run(self, *argv):
        return subprocess.run(
            self.lab.hosts[0].command(list(argv)), text=True, check=False,
            capture_output=True, env={**os.environ, **self.environment})

    def ask(self, *argv):
        """What a command of Slurm prints on the first host; it must answer."""
        done = self._run(*argv)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(argv)} ended with "
                                 f"{done.returncode}:\n{done.stderr}")
        return done.stdout

    def logs(self):
        return "\n".join(f"{path.name}:\n{path.read_text()[-2000:]}"
                         for path in sorted(self.folder.glob("*.[lo][ou][gt]")))
