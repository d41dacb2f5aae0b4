# SPDX-License-Identifier: Apache-2.0
"""One row of the table played: hosts, a fault, muster check on every host."""
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import time
from typing import Callable, NamedTuple

import namespaces

HERE = pathlib.Path(__file__).parent
PORT = 8476
# The group but for network.speed, which measures and takes seconds.
REACH = " ".join("network." + name for name in (
    "interfaces", "names", "own-name", "ports", "proxy", "reach", "route"))
SPEED = "network.speed"
# A check that is hung, not one that is slow: the promise is a few seconds.
HUNG = 60


@dataclasses.dataclass
class Fault:
    """What is done, and what has to be said of it."""
    name: str
    cause: str                    # label of the catalog; "": nothing is wrong
    named: tuple                  # ranks that the finding names
    does: Callable                # of a Scene
    severity: str = "error"
    size: int = 3
    group: str = REACH
    limit: float = 3.5            # seconds to the verdict that are promised
    others: tuple = ()            # causes that may stand beside it
    by_named: bool = False        # only the hosts that it names can say it
    also: tuple = ()              # ranks that it may name beside them
    says: str = ""                # stands in the evidence


class Played(NamedTuple):
    """What became of a row."""
    wrong: list            # what is wrong with the answers; empty: right
    seconds: float = 0.0   # to the verdict
    said: list = []        # of each fault, the ranks that are named
    lacking: str = ""      # what this machine lacks to play it at all


class Scene:
    """What a fault may change before and while muster check runs."""

    def __init__(self, lab, group):
        self.lab = lab
        self.hosts = lab.hosts
        self.group = group
        self.members = [f"{host.address}:{PORT}" for host in lab.hosts]
        self.lists = {}      # rank -> its list where it is another
        self.ranks = {}      # rank -> what it is told to be
        self.flags = {host.rank: [] for host in lab.hosts}
        self.environment = {host.rank: {} for host in lab.hosts}
        self.delays = {}     # rank -> seconds
        self.absent = set()  # muster is not started there
        self.deaf = set()    # started, and its answer is not asked for
        self.later = []      # (seconds, function): while it runs

    def names(self):
        """Members by name, which every host knows."""
        self.members = [f"{host.name}:{PORT}" for host in self.hosts]
        for host in self.hosts:
            host.known.update({one.name: one.address for one in self.hosts})

    def stranger(self, rank, kind):
        return self.helper(rank, "strangers.py", kind, PORT)

    def helper(self, rank, script, *words):
        """A script of this folder on a host, until it says that it is ready."""
        process = self.hosts[rank].start(
            ["python3", str(HERE / script), *map(str, words)],
            stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        return process

    def command(self, host):
        members = self.lists.get(host.rank, self.members)
        variables = [f"{name}={value}" for name, value
                     in {"PATH": os.environ["PATH"],
                         **self.environment[host.rank]}.items()]
        return (["env", "-i"] + variables +
                [os.environ["MUSTER_BINARY"], "check", *self.group.split(),
                 "--output", "json", "--hosts", ",".join(members),
                 "--rank", str(self.ranks.get(host.rank, host.rank))] +
                self.flags[host.rank])

    def play(self):
        """Documents by rank, and the seconds that the slowest took."""
        began = time.monotonic()
        todo = [(self.delays.get(host.rank, 0), "start", host)
                for host in self.hosts if host.rank not in self.absent]
        todo += [(after, "call", what) for after, what in self.later]
        running = {}
        for after, what, subject in sorted(todo, key=lambda one: one[0]):
            # When a thing happens is part of the row: there is no event that
            # it could wait for.
            time.sleep(max(0, began + after - time.monotonic()))
            if what == "call":
                subject(self, running)
                continue
            running[subject.rank] = subject.start(
                self.command(subject), stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True)
        documents = {}
        for rank, process in running.items():
            if rank in self.deaf:
                continue
            out, err = process.communicate(timeout=HUNG)
            try:
                documents[rank] = json.loads(out)
            except ValueError:
                raise AssertionError(f"w-{rank} printed {out!r} {err!r}")
        seconds = max(one["summary"]["seconds"] for one in documents.values())
        return documents, seconds


def names_of(finding, own):
    """Ranks that a finding names; one that names none is about its host."""
    ranks = {int(number) for subject in finding["subjects"]
             for number in re.findall(r"(?:^rank |\bw-)(\d+)", subject)}
    return ranks or {own}


def names_well(fault, faults, finding, rank):
    """It names whom it has to, and nobody else: nobody but those of faults of
    its cause that hold at the same time."""
    named = names_of(finding, rank)
    needed = {rank} if fault.by_named else set(fault.named)
    may = set().union(*(one.named + one.also for one in faults
                        if one.cause == fault.cause))
    return needed <= named <= may


def judge(faults, documents):
    """What is wrong with the answers; empty: they are right."""
    wrong = []
    expected = {fault.cause for fault in faults if fault.cause}
    allowed = expected.union(*(fault.others for fault in faults))
    # What is slow is a warning, so on hosts where nothing is, none may be.
    alarms = ("error", "warning") if faults[0].group == SPEED else ("error",)
    for rank, document in documents.items():
        for finding in document["findings"]:
            if finding["severity"] in alarms and \
                    finding["cause"] not in allowed:
                wrong.append(f"w-{rank} also says {finding['cause']}: "
                             f"{finding['what']}")
    for fault in faults:
        if not fault.cause:
            continue
        sayers = [rank for rank, document in documents.items()
                  if any(finding["cause"] == fault.cause and
                         finding["severity"] == fault.severity and
                         any(fault.says in one["what"]
                             for one in finding["evidence"]) and
                         names_well(fault, faults, finding, rank)
                         for finding in document["findings"])]
        everybody = fault.group in (REACH, SPEED) and not fault.by_named
        needed = set(documents) if everybody else set(fault.named)
        if not needed <= set(sayers):
            said = {rank: [(one["cause"], one["severity"],
                            sorted(names_of(one, rank)))
                           for one in document["findings"]]
                    for rank, document in documents.items()}
            wrong.append(f"{fault.cause} of {list(fault.named)} is not said by "
                         f"{sorted(needed - set(sayers))}: {said}")
    return wrong


def said_of(fault, documents):
    """The ranks that all findings of its cause name."""
    return sorted(set().union(*(
        names_of(finding, rank) for rank, document in documents.items()
        for finding in document["findings"]
        if fault.cause and finding["cause"] == fault.cause)))


def play(number, faults):
    """Plays faults that hold at the same time."""
    size = max(fault.size for fault in faults)
    group = " ".join(sorted({word for fault in faults
                             for word in fault.group.split()}))
    try:
        with namespaces.Lab(number, size) as lab:
            scene = Scene(lab, group)
            for fault in faults:
                fault.does(scene)
            documents, seconds = scene.play()
            wrong = judge(faults, documents)
    except namespaces.CannotBePlayed as error:
        return Played([], lacking=str(error))
    except (AssertionError, subprocess.SubprocessError, OSError) as error:
        detail = getattr(error, "stderr", "") or ""
        return Played([f"could not be played: {error} {detail}"])
    limit = max(fault.limit for fault in faults)
    # Hung, not slow: four times what is promised.
    if seconds > 4 * limit:
        wrong.append(f"took {seconds:.1f} s, {limit} s are promised")
    return Played(wrong, seconds,
                  [said_of(fault, documents) for fault in faults])
