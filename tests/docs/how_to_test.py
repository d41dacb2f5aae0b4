#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/how-to show what the program prints.

  MUSTER_BINARY=… MUSTER_SOURCE=… tests/docs/how_to_test.py [--update]

A fenced block that begins with `$ COMMAND` is run in the environment of the
comment above it, and what stdout holds must stand below the command:

    <!-- run SLURM_PROCID=2 SLURM_NTASKS=3 -->
    <!-- run @tpu_vm -->                 with a server of tests/fakes

`<!-- wrong LABEL: NAME=VALUE … [muster FLAGS] -->` after a table: in that
environment the program's answer has the cause LABEL, which the page names.
A command in any other block is an error, unless the block's comment says
`<!-- not run: why -->`. What such blocks show of findings is held against the
catalogue all the same, and the lines of a `muster check` against `--list`; so
it is on the pages that are not run as a whole, and in README.md.
"""
import contextlib
import difflib
import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

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

RUN = re.compile(r"<!-- run ?(.*?) ?-->\n\n?```\n(.*?)```\n", re.S)
WRONG = re.compile(r"<!-- wrong ([a-z-]+): (.*?) -->", re.S)
BLOCK = re.compile(r"(<!--[^>]*-->\n\n?)?```\n(.*?)```\n", re.S)
# What a page shows that no environment can bring about again.
NOT_RUN = {"check.md": "the state of one host; tests/system/check_test.py "
                       "makes each of its cases"}
# What was seen decides their fixes, the catalogue has others.
OWN_FIXES = {"accelerator-unused", "preempted"}
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


def run(command, words, shell=True):
    """stdout, and both streams."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        variables = {"PATH": PATH, "HOME": folder, "NO_GCE_CHECK": "true"}
        for word in words:
            if word.startswith("@"):
                variables.update(stack.enter_context(server(word, folder)))
            else:
                name, _, value = word.partition("=")
                variables[name] = value
        pathlib.Path(folder, "hosts").write_text("n1 slots=2\nn2 slots=2\n")
        command = re.sub(r"^!|^srun ", "", command)
        done = subprocess.run(["bash", "-c", command] if shell else command,
                              env=variables, cwd=folder, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=120)
        return done.stdout, done.stdout + done.stderr


def played(block, words):
    """The block as it should be: each command with what it printed."""
    out = []
    for line in block.splitlines():
        if line.startswith("$ "):
            stdout, _ = run(line[2:], words)
            out += [line] + [l.rstrip() for l in stdout.splitlines()]
    return "\n".join(out) + "\n"


def check_wrong(page, text):
    failures = []
    for label, rest in WRONG.findall(text):
        words = shlex.split(rest)
        at = words.index("muster") if "muster" in words else len(words)
        flags = words[at + 1:]
        _, both = run(shlex.join(["muster", "resolve", *flags]), words[:at])
        if f"[{label}]" not in both:
            failures.append(f"{page}: expected {label} with {rest}, got:\n"
                            f"{both[:600]}")
        if f"`{label}`" not in WRONG.sub("", text):
            failures.append(f"{page}: does not name `{label}`")
    return failures


def check_page(page, update):
    text = page.read_text()
    new = RUN.sub(lambda m: m.group(0).replace(
        m.group(2), played(m.group(2), shlex.split(m.group(1)))), text)
    failures = check_wrong(page.name, text)
    runs = len(RUN.findall(text))
    if runs == 0:
        failures.append(f"{page.name}: no command is run")
    for comment, block in BLOCK.findall(text):
        if not comment.startswith(("<!-- run", "<!-- not run")):
            failures.append(f"{page.name}: a block that nobody runs:\n{block}")
    for line in text.splitlines():
        if re.match(r"    \S*\s*(muster|!muster|eval|srun) ", line):
            failures.append(f"{page.name}: a command that nobody runs: {line}")
    if update:
        page.write_text(new)
    elif new != text:
        failures.append("\n".join(difflib.unified_diff(
            text.splitlines(), new.splitlines(), str(page.name),
            "what the program printed", lineterm="")))
    return runs, failures


@functools.cache
def catalogue(label):
    out = subprocess.run([MUSTER, "explain", label, "--output", "json"],
                         check=True, text=True, capture_output=True).stdout
    return json.loads(out)


@functools.cache
def checks():
    out = subprocess.run([MUSTER, "check", "--list"], check=True, text=True,
                         capture_output=True).stdout
    return re.findall(r"^([a-z]+\.[a-z-]+) ", out, re.M)


def fixes_of(label):
    """The catalogue's fixes as one line, any value in place of a FIELD."""
    lines = []
    for fix in catalogue(label)["fixes"]:
        command = re.sub(r"\b[A-Z]{2,}\b", r"\\S+", re.escape(fix["command"]))
        lines.append(re.escape(fix["text"]) + (": " + command if command else "")
                     + " " + fix["safety"]
                     + (", changes results" if fix["changes_results"] else ""))
    return " ".join(lines).replace(r"\ ", " ")


FINDING = re.compile(
    r"^(?:error|warning|note)\[([a-z-]+)\][^\n]*\n((?: +[^\n]*\n)*)", re.M)


def check_shown(page, block):
    """What a block that is not run shows and the program would not say."""
    failures = []
    for label, lines in FINDING.findall(block):
        said = re.search(r"^  fix  +(.*?)(?=^  [a-z]|\Z)", lines, re.M | re.S)
        if said and label not in OWN_FIXES and not re.fullmatch(
                fixes_of(label), " ".join(said.group(1).split())):
            failures.append(f"{page}: the fixes of {label} are others: "
                            f"muster explain {label}\n{said.group(1)}")
    return failures


def check_lines(page, block):
    """Whether a `muster check` of groups shows all checks of them."""
    failures = []
    for words in re.findall(r"^\$ muster check (.*)$", block, re.M):
        shown = re.findall(r"^(?:ok|warn|FAIL|skip|broken) +(\S+\.\S+)", block,
                           re.M)
        wanted = {one for one in checks()
                  if {one, one.partition(".")[0]} & set(words.split(" "))}
        if missing := sorted(wanted - set(shown)):
            failures.append(f"{page}: `muster check {words}` lacks {missing}")
        if unknown := sorted(set(shown) - set(checks())):
            failures.append(f"{page}: there is no check {unknown}")
    return failures


def main():
    update = "--update" in sys.argv
    pages = sorted((SOURCE / "docs" / "how-to").glob("*.md"))
    total, failures = 0, []
    for page in [*pages, SOURCE / "README.md"]:
        text = RUN.sub("", page.read_text())
        failures += check_shown(page.name, re.sub(r"(?m)^ {4}", "", text))
        for _, block in BLOCK.findall(text):
            failures += check_lines(page.name, block)
    for page in pages:
        why = NOT_RUN.get(page.name)
        if "<!-- run @machines" in page.read_text():
            why = ("this build has no gRPC, which agents of several hosts need"
                   if os.environ.get("MUSTER_GRPC") == "0"
                   else namespaces.why_not() or ssh.why_not())
        if why:
            print(f"skipped: {page.name}: {why}")
            continue
        runs, found = check_page(page, update)
        total += runs
        failures += found
    print("\n".join(failures))
    print(f"{len(pages)} pages, {total} examples, {len(failures)} failures")
    sys.exit(1 if failures or not pages else 0)


if __name__ == "__main__":
    main()
