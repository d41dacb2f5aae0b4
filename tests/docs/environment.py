# SPDX-License-Identifier: Apache-2.0
"""Runs a command of a page in the environment that the page describes: alone,
or in front of a server or the hosts of a lab (tests/fakes, tests/lab)."""
import contextlib
import http.server
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import threading

SOURCE = pathlib.Path(os.environ["MUSTER_SOURCE"])
MUSTER = pathlib.Path(os.environ["MUSTER_BINARY"])
sys.path[:0] = [str(SOURCE / "tests" / "fakes"), str(SOURCE / "tests" / "lab")]
# pylint: disable=wrong-import-position
import http_fakes as fakes  # noqa: E402
import namespaces  # noqa: E402
import ssh  # noqa: E402
import tpu_vm  # noqa: E402
from tpu_api import TpuApi, answers  # noqa: E402
from tpu_api.server import refused  # noqa: E402

PATH = f"{MUSTER.parent}:/usr/bin:/bin"


def everything(api):
    """Some TPUs of a user who may do everything."""
    api.cloud.add_node("us-west4-a", "first", "v5litepod-8")
    api.cloud.add_node("us-west4-a", "lost", "v5litepod-8",
                       state="PREEMPTED", schedulingConfig={"spot": True})
    api.cloud.add_node("us-central2-b", "pod", "v4-32")


def refusing(refusal):
    def arrange(api):
        api.script("GET", "/v2/", refused(refusal), always=True)
    return arrange


def fast(*full, quota=()):
    """Half an hour in a second; without capacity in the zones `full`."""
    def arrange(api):
        everything(api)
        api.clock.set_speed(2000)
        for zone in full:
            api.cloud.capacity[zone, "v5litepod-8"] = 0
        for metric in quota:
            api.cloud.quota[metric, "us-west4"] = 0
    return arrange


@contextlib.contextmanager
def machines(name, folder):
    """A user's machine and the workers of a TPU VM, which are hosts of a lab;
    one of them refuses the user. `muster` is that of the user's machine."""
    with namespaces.Lab(4, 5) as lab:
        keys = ssh.Ssh(lab)
        with namespaces.inside(lab.hosts[4].space,
                           lambda: TpuApi(lab.folder)) as api:
            tpu = tpu_vm.TpuVm(lab, keys, api)
            for host in tpu.workers:
                keys.serve(host, own_home=True, authorized=not (
                    name == "@machines_one_refuses" and host.rank == 2))
            # A home that is called the same each time.
            tpu.user.prepare += ["mount -t tmpfs none /mnt", "mkdir /mnt/me",
                                 f"mount --bind {tpu.home} /mnt/me"]
            *prefix, script = tpu.user.command(["env"])
            programs = pathlib.Path(folder, "bin")
            programs.mkdir()
            (programs / "muster").write_text(
                "#!/bin/sh\nexec " + shlex.join(
                    [*prefix, script + ' "$@"', "sh", str(MUSTER)]) +
                ' "$@"\n')
            (programs / "muster").chmod(0o755)
            train = pathlib.Path(folder, "train")
            train.mkdir()
            (train / "train.py").write_text(
                'import os\nprint("step 1 of rank", os.environ["RANK"])\n')
            yield tpu.environment(
                HOME="/mnt/me", USER="root",
                PATH=f"{programs}:{keys.path}:{PATH}")


def why_no_machines():
    """Why the hosts of `@machines` cannot be made here; None: they can."""
    if os.environ.get("MUSTER_GRPC") == "0":
        return "this build has no gRPC, which agents of several hosts need"
    return namespaces.why_not() or ssh.why_not()


# Clouds of tests/fakes/tpu_api, for me@example.com.
CLOUDS = {
    "@cloud_fast": fast(),
    "@cloud_full": fast("us-west4-a"),
    "@cloud_none": fast("us-west4-a", "europe-west4-b"),
    "@cloud_no_quota": fast(
        quota=["TPUV5LITEPODPerProjectPerRegionForTPUAPI"]),
    "@cloud": everything,
    "@cloud_denied": lambda api: api.identity.permissions.update(
        {"me@example.com": set()}),
    "@cloud_api_off": lambda api: api.cloud.disabled.add("p"),
    "@cloud_unbilled": lambda api: api.cloud.unbilled.add("p"),
    "@cloud_of_gcloud": refusing(answers.service_disabled("764086051850")),
}


class QuietPages(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def server(name, folder):
    """The variables that lead the program to a fake."""
    if name == "@tpu_vm":
        with fakes.Fake(fakes.tpu_vm(worker=1)) as fake:
            yield {"GCE_METADATA_HOST": fake.address, "NO_GCE_CHECK": ""}
    elif name == "@tpu_vm_of_4":
        hosts = [f"10.0.0.{i}" for i in range(1, 5)]
        with fakes.Fake(fakes.tpu_vm(hosts=hosts)) as fake:
            yield {"GCE_METADATA_HOST": fake.address, "NO_GCE_CHECK": ""}
    elif name == "@tpu_api":
        with fakes.Fake(fakes.tpu_api(), flavor=False) as fake:
            yield {"CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU":
                   f"http://{fake.address}/",
                   "CLOUDSDK_AUTH_ACCESS_TOKEN": "secret-token"}
    elif name in ("@kubernetes", "@kubernetes_without_rights",
                  "@kubernetes_without_service"):
        tls = fakes.certificate(folder)
        fakes.service_account(folder)
        with fakes.Fake(fakes.kubernetes(name), flavor=False,
                        tls=tls) as fake:
            yield {"KUBERNETES_SERVICE_HOST": "127.0.0.1",
                   "KUBERNETES_SERVICE_PORT": str(fake.port),
                   "MUSTER_SERVICE_ACCOUNT": folder,
                   "HOSTNAME": "train-1-x", "JOB_COMPLETION_INDEX": "1"}
    elif name == "@http_server":
        place = ("127.0.0.1", 18480)
        with http.server.ThreadingHTTPServer(
                place, QuietPages) as listening:
            threading.Thread(target=listening.serve_forever).start()
            yield {}
            listening.shutdown()
    elif name.startswith("@machines"):
        with machines(name, folder) as variables:
            yield variables
    elif name in CLOUDS:
        with tempfile.TemporaryDirectory() as made, TpuApi(made) as api:
            CLOUDS[name](api)
            api.identity.write(folder, api.identity.user())
            yield api.environment(
                GOOGLE_APPLICATION_CREDENTIALS="credentials.json")
    else:
        raise SystemExit(f"there is no fake {name}")


def run(command, words=(), both=False, folder=None):
    """stdout of a command line, or with `both` stdout and stderr as they come.
    `words`: @SERVER and NAME=VALUE. `folder`: where; without it a new one."""
    with contextlib.ExitStack() as stack:
        if folder is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            pathlib.Path(folder, "hosts").write_text(
                "n1 slots=2\nn2 slots=2\n")
        variables = {"PATH": PATH, "HOME": folder, "NO_GCE_CHECK": "true"}
        for word in words:
            if word.startswith("@"):
                variables.update(stack.enter_context(server(word, folder)))
            else:
                name, _, value = word.partition("=")
                variables[name] = value
        command = re.sub("^srun ", "", command)
        done = subprocess.run(
            ["bash", "-c", command], env=variables, cwd=folder, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False,
            stderr=subprocess.STDOUT if both else subprocess.PIPE, timeout=120)
        return done.stdout
