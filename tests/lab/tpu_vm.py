# SPDX-License-Identifier: Apache-2.0
"""A TPU VM as hosts of a lab: its workers are the first hosts, with a real sshd
each; the last host is its user's machine, where the fake of the API is."""
import pathlib

NAME = "projects/p/locations/us-central2-b/nodes/t"


class TpuVm:
    """`t` of zone us-central2-b, whose user has what gcloud keeps in ~/.ssh."""

    def __init__(self, lab, ssh, api, accelerator="v4-32"):
        self.ssh, self.api = ssh, api
        *self.workers, self.user = lab.hosts
        self.home = pathlib.Path(lab.folder, "home")
        (self.home / ".ssh").mkdir(parents=True)
        (self.home / ".ssh" / "google_compute_engine").write_bytes(
            (ssh.folder / "user_key").read_bytes())
        (self.home / ".ssh" / "google_compute_engine").chmod(0o600)
        self.known_hosts = self.home / ".ssh" / "google_compute_known_hosts"
        self.node = api.cloud.add_node(
            "us-central2-b", "t", accelerator, networkEndpoints=[
                {"ipAddress": host.address, "port": 8470}
                for host in self.workers])
        self.known_hosts.write_text("".join(
            f"{self.key_name(i)} {' '.join(ssh.keys[host.name])}\n"
            for i, host in enumerate(self.workers)))

    def key_name(self, worker):
        """The name under which a worker's key is kept."""
        return f"tpu.{self.api.cloud.node_json(self.node)['id']}-{worker}"

    def environment(self, **more):
        return {"HOME": str(self.home), "USER": "root",
                "PATH": f"{self.ssh.path}:/usr/bin:/bin",
                "CLOUDSDK_COMPUTE_ZONE": "us-central2-b",
                "NO_GCE_CHECK": "true",
                "CLOUDSDK_AUTH_ACCESS_TOKEN": self.api.token(),
                **self.api.environment(), **more}

    def preempt(self):
        """The API says so, and the machines go."""
        self.api.cloud.preempt(NAME)
        for host in self.workers:
            self.ssh.stop(host)

