# SPDX-License-Identifier: Apache-2.0
"""Hosts of a lab: network namespaces on a bridge of their own.

A host has its own name, addresses, /etc/hosts, /etc/resolv.conf and clock; what
runs on it is a process of this machine. Names of namespaces carry the process
id of who made them, so that what a killed lab has left is found and removed.
"""
import contextlib
import ctypes
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

PREFIX = "mulab"
CLONE_NEWNET = 0x40000000
# What `tc` says of a kernel that was built without a kind.
NO_SUCH_KIND = ("qdisc kind is unknown", "TC classifier not found")


class CannotBePlayed(Exception):
    """This machine lacks what a host of the lab is to have."""


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True,
                          **options)


def why_not():
    """Why no lab can be made here; None: it can."""
    if os.geteuid() != 0:
        return "namespaces need root"
    for tool in ("ip", "nft", "tc", "unshare"):
        if not shutil.which(tool):
            return f"`{tool}` is not installed"
    name = f"{PREFIX}-{os.getpid()}-try"
    try:
        run("ip", "netns", "add", name)
        try:
            run("ip", "netns", "exec", name, "unshare", "--uts", "true")
            run("ip", "netns", "exec", name, "nft", "add", "table", "inet", "t")
        finally:
            run("ip", "netns", "del", name)
    except subprocess.CalledProcessError as error:
        return error.stderr.strip() or "no network namespace can be made"
    return None


def cgroup_mounts():
    """(folder, version of cgroups, controllers) of each."""
    mounts = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
    for words in (line.split(" ") for line in mounts):
        kind, folder = words[words.index("-") + 1], pathlib.Path(words[4])
        if kind == "cgroup":
            yield folder, 1, words[-1].split(",")
        if kind == "cgroup2":
            # Another mount may lie over it.
            with contextlib.suppress(FileNotFoundError):
                yield folder, 2, (
                    folder / "cgroup.subtree_control").read_text().split()


def cgroup_of(controller):
    """The folder below which groups of a controller are made, and the version
    of cgroups: 1, 2."""
    for folder, version, controllers in cgroup_mounts():
        if controller in controllers:
            return folder, version
    raise CannotBePlayed(f"no cgroup of `{controller}` can be made here")


def is_left(name):
    """Whether that is of a lab whose process is gone."""
    made = re.match(rf"{PREFIX}-(\d+)-", name)
    return bool(made) and not os.path.exists(f"/proc/{made[1]}")


def sweep():
    """Removes what labs have left whose process is gone: namespaces with what
    runs in them, groups, and folders, which hold keys and tokens."""
    for line in run("ip", "netns", "list").stdout.split("\n"):
        if is_left(name := line.split(" ")[0]):
            remove(name)
    for root, _, _ in cgroup_mounts():
        for group in filter(lambda one: is_left(one.name),
                            root.glob(f"{PREFIX}-*")):
            remove_group(group)
    for folder in filter(lambda one: is_left(one.name), pathlib.Path(
            tempfile.gettempdir()).glob(f"{PREFIX}-*")):
        shutil.rmtree(folder, ignore_errors=True)


def remove(name):
    pids = subprocess.run(["ip", "netns", "pids", name], capture_output=True,
                          text=True, check=False).stdout.split()
    for pid in pids:
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass
    subprocess.run(["ip", "netns", "del", name], capture_output=True,
                   check=False)


def remove_group(group):
    # A process that was killed leaves its group a moment later.
    for _ in range(100):
        try:
            group.rmdir()
            return
        except FileNotFoundError:
            return
        except OSError as error:
            why = error
            time.sleep(0.05)
    try:
        inside = (group / "cgroup.procs").read_text().split()
    except OSError:
        inside = []
    print(f"cgroup {group} is left behind after 5 s: {why}; processes in it: "
          f"{', '.join(inside) or 'none'}", file=sys.stderr)


def pids_in(hosts):
    """The processes in the namespaces of these hosts."""
    pids = set()
    for host in hosts:
        said = run("ip", "netns", "pids", host.space).stdout
        pids |= {int(word) for word in said.split()}
    return pids


def described(pids):
    """pid -> command, of those of these processes that are there."""
    commands = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            commands[pid] = line.replace(b"\0", b" ").decode(errors="replace")
    return commands


def inside(space, make):
    """make(), by a thread that is in the namespace: its sockets are there."""
    made = []

    def enter():
        with open(f"/run/netns/{space}", "rb") as file:
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.setns(file.fileno(), CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
        made.append(make())

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    return made[0]


class Host:
    """One host: 10.77.NET.(RANK+1), called w-RANK."""

    def __init__(self, lab, rank):
        self.lab = lab
        self.rank = rank
        self.name = f"w-{rank}"
        self.space = f"{lab.prefix}-{rank}"
        self.address = lab.address(rank)
        self.folder = pathlib.Path(lab.folder, self.name)
        self.folder.mkdir()
        self.known = {"localhost": "127.0.0.1", self.name: self.address}
        self.resolv = []
        self.prepare = []  # shell lines before a command on this host
        self.processes = []
        self.groups = []   # cgroups that were made

    def command(self, argv):
        """argv as it is started on this host."""
        (self.folder / "hosts").write_text("".join(
            f"{number} {name}\n" for name, number in self.known.items()))
        (self.folder / "resolv.conf").write_text(
            "\n".join(self.resolv + ["options timeout:1 attempts:1"]) + "\n")
        lines = [f"hostname {self.name}"]
        for file in ("hosts", "resolv.conf"):
            lines.append(f"mount --bind {self.folder / file} /etc/{file}")
        lines += self.prepare
        lines.append("exec " + " ".join(shlex.quote(word) for word in argv))
        inside = ["ip", "netns", "exec", self.space, "unshare", "--uts", "sh",
                  "-ec", "\n".join(lines)]
        enter = "".join(f"echo $$ >{group}/cgroup.procs; "
                        for group in self.groups)
        return ["sh", "-ec", f'{enter}exec "$@"', "sh"] + inside

    def start(self, argv, **options):
        process = subprocess.Popen(self.command(argv), **options)
        self.processes.append(process)
        return process

    def await_listener(self, port):
        """Until something listens there."""
        end = time.monotonic() + 60
        while f":{port} " not in run("ip", "netns", "exec", self.space, "ss",
                                     "-Hltn").stdout:
            if time.monotonic() > end:
                raise AssertionError(f"not within 60 s: {self.name} listens "
                                     f"on port {port}")
            time.sleep(0.05)  # between two questions to the kernel

    def hardware(self):
        """The address of its card."""
        links = json.loads(run("ip", "-j", "-n", self.space, "link", "show",
                               "eth0").stdout)
        return links[0]["address"]

    def limit(self, controller, files, value):
        """Starts what runs here from now on in a cgroup with a limit; `files`
        by the version of cgroups."""
        root, version = cgroup_of(controller)
        group = pathlib.Path(root, self.space)
        try:
            group.mkdir()
        except OSError as error:
            raise CannotBePlayed(f"no cgroup can be made here: {error}") \
                from error
        self.groups.append(group)
        (group / files[version]).write_text(str(value))
        # The namespace has a /sys of its own, without them.
        if version == 2:
            self.prepare.append("mount -t cgroup2 lab /sys/fs/cgroup")
        else:
            self.prepare.append(
                f"mount -t tmpfs lab /sys/fs/cgroup; "
                f"mkdir /sys/fs/cgroup/{controller}; mount -t cgroup "
                f"-o {controller} lab /sys/fs/cgroup/{controller}")

    def ip(self, *words):
        run("ip", "-n", self.space, *words)

    def nft(self, rules):
        run("ip", "netns", "exec", self.space, "nft", "-f", "-", input=rules)

    def need_ipv6(self):
        switch = "/proc/sys/net/ipv6/conf/eth0/disable_ipv6"
        said = subprocess.run(
            ["ip", "netns", "exec", self.space, "cat", switch],
            capture_output=True, text=True, check=False)
        if said.stdout != "0\n":
            raise CannotBePlayed(f"no IPv6 here: {switch}: "
                                 f"{(said.stdout or said.stderr).strip()}")

    def tc(self, *words):
        try:
            run("ip", "netns", "exec", self.space, "tc", *words)
        except subprocess.CalledProcessError as error:
            if any(one in error.stderr for one in NO_SUCH_KIND):
                raise CannotBePlayed(f"`tc {' '.join(words)}`: "
                                     f"{error.stderr.splitlines()[0]}") \
                    from error
            raise

    def filter(self, hook, rule):
        """Adds a rule of nft to the chain of a hook: input, output."""
        self.nft(f"add table inet lab\n"
                 f"add chain inet lab {hook} {{ type filter hook {hook} "
                 f"priority 0; }}\n"
                 f"add rule inet lab {hook} {rule}\n")


class Lab:
    """Hosts on one bridge; everything goes when the block ends."""

    def __init__(self, number, size):
        self.prefix = f"{PREFIX}-{os.getpid()}-{number}"
        self.size = size

    def address(self, rank):
        return f"10.77.0.{rank + 1}"

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix=f"{self.prefix}-")
        self.spaces = [f"{self.prefix}-br"]
        try:
            self.hosts = [Host(self, rank) for rank in range(self.size)]
            self._wire()
        except BaseException:
            self._remove()
            raise
        return self

    def _wire(self):
        bridge = self.spaces[0]
        run("ip", "netns", "add", bridge)
        lines = ["link add br0 type bridge", "link set br0 up"]
        for host in self.hosts:
            self.spaces.append(host.space)
            run("ip", "netns", "add", host.space)
            lines += [f"link add v{host.rank} type veth peer name eth0 netns "
                      f"{host.space}",
                      f"link set v{host.rank} master br0 up"]
        run("ip", "-n", bridge, "-batch", "-", input="\n".join(lines) + "\n")
        for host in self.hosts:
            run("ip", "-n", host.space, "-batch", "-", input=(
                "link set lo up\n"
                f"addr add {host.address}/24 dev eth0\n"
                "link set eth0 up\n"))

    def __exit__(self, *ignored):
        self._remove()

    def _remove(self):
        for host in getattr(self, "hosts", []):
            for process in host.processes:
                if process.poll() is None:
                    process.kill()
                process.wait()
        for space in self.spaces:
            remove(space)
        for host in getattr(self, "hosts", []):
            for group in host.groups:
                remove_group(group)
        shutil.rmtree(self.folder, ignore_errors=True)
