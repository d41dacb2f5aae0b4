# SPDX-License-Identifier: Apache-2.0
"""ssh on the hosts of a lab: a real sshd on each, with keys of its own, and a
user who may log in everywhere without a password."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import namespaces

SSHD = "/usr/sbin/sshd"
SERVER = """
Port 22
HostKey {folder}/host_key
PidFile none
AuthorizedKeysFile {authorized}
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
SetEnv XDG_CACHE_HOME={cache} PATH={path}{home}
"""
CLIENT = """
User root
IdentityFile {folder}/user_key
IdentitiesOnly yes
UserKnownHostsFile {folder}/known_hosts
GlobalKnownHostsFile /dev/null
"""
# Takes connections at the port of ssh, says its version and no more.
SILENT = """
import socket
listener = socket.create_server(("", 22))
held = []
print("listens", flush=True)
while True:
    held.append(listener.accept()[0])
    held[-1].sendall(b"SSH-2.0-OpenSSH_9.2\\r\\n")
"""


def why_not():
    """Why there can be no ssh here; None: there can."""
    for tool, package in ((SSHD, "openssh-server"), ("ssh", "openssh-client"),
                          ("ssh-keygen", "openssh-client")):
        if not shutil.which(tool):
            return f"there is no `{tool}`: apt-get install {package}"
    return None


def make_key(path):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path],
                   check=True, capture_output=True)
    return pathlib.Path(f"{path}.pub").read_text().split()[:2]


class Ssh:
    """The servers of a lab and the user's side, as a folder for PATH."""

    def __init__(self, lab):
        self.lab = lab
        self.folder = pathlib.Path(lab.folder, "ssh")
        self.folder.mkdir()
        self.keys = {}
        kind, key = make_key(self.folder / "user_key")
        (self.folder / "authorized").write_text(f"{kind} {key} user\n")
        for host in lab.hosts:
            host.known.update({one.name: one.address for one in lab.hosts})
            self.keys[host.name] = make_key(host.folder / "host_key")
        self.know({host.name: self.keys[host.name] for host in lab.hosts})
        (self.folder / "config").write_text(CLIENT.format(folder=self.folder))
        self.path = self.folder / "bin"
        self.path.mkdir()
        client = self.path / "ssh"
        client.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F '
                          f'{self.folder}/config "$@"\n')
        client.chmod(0o755)

    def know(self, keys):
        """Writes the user's known_hosts: name -> (kind, key)."""
        (self.folder / "known_hosts").write_text("".join(
            f"{name} {kind} {key}\n" for name, (kind, key) in keys.items()))

    def cache(self, host):
        """Where muster is put on that host."""
        return host.folder / "cache"

    def home(self, host):
        """The home folder there of who has one of its own."""
        return host.folder / "home"

    def serve(self, host, authorized=True, programs=None, prepare=(),
              own_home=False):
        """Starts sshd there, and waits until it listens. Its users have what is
        in the folder `programs` before what others have."""
        config = host.folder / "sshd_config"
        self.home(host).mkdir(exist_ok=True)
        config.write_text(SERVER.format(
            folder=host.folder, cache=self.cache(host),
            path=f"{programs or '/nowhere'}:/usr/bin:/bin",
            home=f" HOME={self.home(host)}" if own_home else "",
            authorized=self.folder / "authorized" if authorized else "none"))
        # Without PAM a user whose password begins with ! may not log in.
        shadow = host.folder / "shadow"
        shadow.write_text("root:*:::::::\n")
        shadow.chmod(0o600)
        before = host.prepare
        host.prepare = [*before, "mount -t tmpfs none /run", "mkdir /run/sshd",
                        f"mount --bind {shadow} /etc/shadow", *prepare]
        with open(host.folder / "sshd.log", "w") as log:
            server = host.start([SSHD, "-D", "-e", "-f", str(config)],
                                stdin=subprocess.DEVNULL, stdout=log,
                                stderr=log)
        host.prepare = before
        try:
            host.await_listener(22)
        except AssertionError as error:
            said = (host.folder / "sshd.log").read_text()
            raise AssertionError(f"{error}\n{said}") from error
        return server

    def stop(self, host):
        """Ends all that runs there, as if the machine were taken away: also
        what is started while it is looked for."""
        end = time.monotonic() + 60
        while pids := namespaces.pids_in([host]):
            if time.monotonic() > end:
                raise AssertionError(f"killed, and there: {pids}")
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def be_silent(self, host):
        process = host.start([sys.executable, "-c", SILENT], text=True,
                             stdout=subprocess.PIPE)
        assert process.stdout.readline() == "listens\n"
