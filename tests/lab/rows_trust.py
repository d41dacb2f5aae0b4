# SPDX-License-Identifier: Apache-2.0
"""Rows: users, secrets, permissions, and what others may make muster do."""
import json
import os
import random
import shutil
import string
import tarfile
import time

import victim
from attack_rows import (NOBODY, Skipped, as_nobody, ending, free_ports, hangs,
                         row)

EVIL = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void Ran(void) {
  const char* file = getenv("LAB_EVIL");
  FILE* out = file ? fopen(file, "a") : NULL;
  if (out) { fprintf(out, "%d\\n", (int)getuid()); fclose(out); }
}
"""


def pair(scene, of_first, of_second, first_flags, second_flags=()):
    """Two agents on loopback without a token, rank 0 begun first."""
    ports = free_ports(2)
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
    for name, user in (("a", of_first), ("b", of_second)):
        (scene.folder / name).mkdir()
        if user:
            os.chown(scene.folder / name, NOBODY, NOBODY)
    common = ["run", "--hosts", hosts, "--check", "off", "--gather-timeout",
              "8s"]
    with scene.muster(*common, "--rank", "0", *first_flags, "--", "true",
                      name="a", before=as_nobody() if of_first else ()) as one:
        with scene.muster(*common, "--rank", "1", *second_flags, "--", "true",
                          name="b",
                          before=as_nobody() if of_second else ()) as two:
            two.wait(30)
            one.wait(30)
    return one, two


def loader_flags(scene):
    """A library that writes the user as whom it runs, in a variable."""
    library = scene.compiled(EVIL, "evil.so")
    proof = scene.folder / "proof"
    proof.touch()
    proof.chmod(0o666)
    return proof, ["--env", f"LD_PRELOAD={library}", "--env",
                   f"LAB_EVIL={proof}"]


@row("nobody coordinates on loopback, root is a member, --env LD_PRELOAD")
def local_root(scene):
    if os.geteuid() != 0:
        raise Skipped("needs root")
    proof, flags = loader_flags(scene)
    _, member = pair(scene, True, False, flags)
    as_root = "0" in proof.read_text().split()
    return ("the library ran as root" if as_root else
            "the library did not run as root") + f"; root: {ending(member)}", (
                not as_root and member.process.returncode not in (0, None))


@row("root coordinates on loopback, nobody is a member")
def root_coordinates(scene):
    if os.geteuid() != 0:
        raise Skipped("needs root")
    coordinator, member = pair(scene, False, True, [])
    return f"root: {ending(coordinator)}; nobody: {ending(member)}", (
        coordinator.process.returncode not in (0, None)
        and member.process.returncode not in (0, None))


@row("loader's variable from another agent of the same user, no token")
def loader_variable(scene):
    proof, flags = loader_flags(scene)
    coordinator, member = pair(scene, False, False, flags)
    count = len(proof.read_text().split())
    # One rank is the coordinator's own; `true` is one process.
    return (f"the library ran {count} times; {ending(coordinator)}; "
            f"{ending(member)}", count <= 1)


@row("agents of one user on loopback (control)")
def same_user(scene):
    coordinator, member = pair(scene, False, False, ["--env", "A=1"],
                               ["--env", "A=1"])
    return f"{ending(coordinator)}; {ending(member)}", (
        coordinator.process.returncode == member.process.returncode == 0)


@row("link below a bundled folder leads outside")
def bundle_link(scene):
    (scene.folder / "outside").write_text("root:OUTSIDE-THE-FOLDER\n")
    (scene.folder / "logs" / "deep").mkdir(parents=True)
    (scene.folder / "away").mkdir()
    (scene.folder / "away" / "in.log").write_text("OUTSIDE-THE-FOLDER\n")
    (scene.folder / "logs" / "rank0.log").write_text("step 1\n")
    (scene.folder / "logs" / "rank1.log").symlink_to("../outside")
    (scene.folder / "logs" / "deep" / "away").symlink_to("../../away")
    run = scene.ended("bundle", "logs")
    packed = archived(scene)
    leaks = b"OUTSIDE-THE-FOLDER" in b"".join(packed.values())
    return f"{'packed' if leaks else 'not packed'}; {ending(run)}", (
        not leaks and any("rank0" in name for name in packed))


def archived(scene):
    """Each file of the bundle, by name."""
    path = scene.folder / "muster-bundle.tar.gz"
    if not path.exists():
        return {}
    with tarfile.open(path) as tar:
        return {member.name: tar.extractfile(member).read()
                for member in tar if member.isfile()}


@row("permissions of the folder of a run, umask 022")
def permissions(scene):
    run = scene.ended_ranks(1, "echo", "x")
    folder = run.run()
    modes = {path.name: path.stat().st_mode & 0o777
             for path in (folder, *folder.rglob("*"))}
    open_to_all = modes[folder.name] & 0o077
    text = f"folder {modes[folder.name]:04o}, files " + ", ".join(
        sorted({f"{mode:04o}" for mode in modes.values()}))
    shared = scene.ended_ranks(1, "echo", "x", flags=("--share",), name="s")
    return f"{text}; --share: {shared.last()[:80]}", (
        not open_to_all and shared.process.returncode == 0)


@row("secret in argv: report.json, events.jsonl, report.md, bundle")
def argv_secret(scene):
    secret = "hunter2hunter2"
    run = scene.ended_ranks(1, "sh", "-c", "echo hi", "x", "--password",
                            secret, "--api-key", secret + "3",
                            f"--token={secret}4")
    folder = run.run()
    found = [path.name for path in sorted(folder.rglob("*"))
             if path.is_file() and secret.encode() in path.read_bytes()]
    if secret in run.err():
        found.append("stderr")
    with scene.muster("bundle", folder) as bundle:
        bundle.wait()
    found += [f"bundle: {name}" for name, data in archived(scene).items()
              if secret.encode() in data]
    return f"in {', '.join(found)}" if found else "in none", not found


def made(chance, count, letters=string.ascii_letters + string.digits):
    return "".join(chance.choice(letters) for _ in range(count))


def planted(chance):
    """(name, line with @, secret): the gaps that a review found."""
    hexa = "0123456789abcdef"
    prefixes = {
        "npm": ("npm_", 36), "PyPI": ("pypi-AgEIcHlwaS5vcmc", 60),
        "Stripe": ("sk_" + "live_", 24), "SendGrid": ("SG.ngeVfQFYQlKU0ufo8x5d1A.", 43),
        "Slack app": ("xapp-1-A0", 40), "NVIDIA": ("nvapi-", 64),
        "Groq": ("gsk_", 52), "Replicate": ("r8_", 37),
        "Hugging Face org": ("api_org_", 34), "Google OAuth": ("GOCSPX-", 28),
        "Google refresh": ("1//0g", 60), "Vault": ("hvs.", 24),
        "Tailscale": ("tskey-auth-k", 30), "Doppler": ("dp.st.", 40)}
    for name, (prefix, count) in prefixes.items():
        yield name, "using @ now", prefix + made(chance, count)
    yield "DigitalOcean", "using @ now", "dop_v1_" + made(chance, 64, hexa)
    yield "Databricks", "using @ now", "dapi" + made(chance, 32, hexa)
    yield "age", "using @ now", "AGE-SECRET-KEY-1" + made(
        chance, 58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")
    yield "Telegram", "GET https://api.telegram.org/bot@/getMe", (
        made(chance, 10, string.digits) + ":AA" + made(chance, 33))
    for line in ('"auth": "@"', "pass: @", "PASS=@", "RABBITMQ_PASS=@",
                 "JWT=@", "SSH_KEY=@", "DB_CREDENTIAL=@", "PROXY_AUTH=@",
                 "credentials.json: @", "HTTPS://user:@@host/x",
                 "https://user:a/@@host/x", "https://user:a'@@host/x",
                 "password\x1b[0m=\x1b[32m@", "password=&quot;@&quot;",
                 "<password>@</password>", "('password', '@')",
                 "password: |\n  @", '"password":\n  "@"'):
        yield line.split("@")[0].strip(), line, made(chance, 24)
    yield "https://TOKEN@host", "https://@@host/x", made(chance, 16)
    yield "PuTTY", ("PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 2\n@\n"
                    "Private-MAC: " + made(chance, 64, hexa)), made(chance, 64)
    yield "SSH2", ("---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n@\n"
                   "---- END SSH2 ENCRYPTED PRIVATE KEY ----"), made(chance, 64)
    yield "token with \\n of a notebook", "token: @\\n", made(chance, 40)


def put(line, secret):
    """`@@host` is an @ after the secret."""
    return line.replace("@@host", "@\0host").replace("@", secret, 1).replace(
        "\0", "@")


def leaked(scene, secrets):
    """Names of the secrets that a bundle holds, or whose line it has lost."""
    text = "\n".join(part.decode(errors="replace")
                     for part in archived(scene).values())
    return sorted({name for name, _, secret in secrets if secret in text})


def judged_leaks(scene, name, secrets):
    run = scene.ended("bundle", name)
    left = leaked(scene, secrets)
    if not archived(scene):
        return f"no archive: {ending(run)}", False
    return f"{len(left)} of {len(secrets)} stay" + (
        f": {', '.join(left)}" if left else ""), not left


@row("secrets of the review in a log, bundle")
def secrets_in_log(scene):
    secrets = list(planted(random.Random(7)))
    (scene.folder / "rank0.log").write_text("".join(
        f"step 1 {put(line, secret)}\nstep 2 loss 0.5\n"
        for _, line, secret in secrets))
    return judged_leaks(scene, "rank0.log", secrets)


@row("secrets of the review in a notebook, bundle")
def secrets_in_notebook(scene):
    secrets = list(planted(random.Random(8)))
    cells = [{"cell_type": "code", "source": [], "metadata": {},
              "execution_count": None, "outputs": [
                  {"output_type": "stream", "name": "stdout",
                   "text": [put(line, secret) + "\n"]}]}
             for _, line, secret in secrets]
    (scene.folder / "n.ipynb").write_text(json.dumps(
        {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5},
        indent=1))
    return judged_leaks(scene, "n.ipynb", secrets)


@row("secret in the name of a file, bundle")
def secret_in_name(scene):
    secret = "hf_" + made(random.Random(9), 34)
    (scene.folder / "logs").mkdir()
    (scene.folder / "logs" / f"run-{secret}.log").write_text("step 1\n")
    scene.ended("bundle", "logs")
    packed = archived(scene)
    places = [name.replace(secret, "SECRET") for name, data in packed.items()
              if secret in name or secret.encode() in data]
    return f"in {', '.join(places)}" if places else "in none", bool(
        packed) and not places


def external_account(scene, **urls):
    """What muster tpu does with credentials that lead to these addresses."""
    if os.geteuid() != 0:
        raise Skipped("needs root")
    (scene.folder / "subject").write_text("token")
    account = {"type": "external_account", "audience": "//iam.example/x",
               "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
               "token_url": "https://192.0.2.1/token",
               "credential_source": {"file": str(scene.folder / "subject")}}
    (scene.folder / "c.json").write_text(json.dumps(account | urls))
    run = scene.ended("tpu", "auth", "--project", "p", before=["unshare", "-n"],
                      GOOGLE_APPLICATION_CREDENTIALS="c.json", seconds=40)
    said = run.out() + run.err()
    return f"{ending(run)}", "https" in run.err().replace(
        "https://192.0.2.1", "") and not hangs(run) and (
            run.process.returncode != 0) and bool(said)


row("credentials whose token_url is http")(
    lambda scene: external_account(scene, token_url="http://192.0.2.1/t"))
row("credentials whose credential_source.url is http")(
    lambda scene: external_account(
        scene, credential_source={"url": "http://192.0.2.1/s"}))


# 200 callers of the mesh (src/wire/mesh_frame.h): a hello of 4 MiB each that
# lacks its last bytes. Prints how many were sent whole.
CALLERS = """
import socket, struct, sys, time
hello = (b"GET /muster/mesh/2 HTTP/1.0\\r\\nHost: muster\\r\\n\\r\\nMUSF"
         + struct.pack("<IB", (4 << 20) + 1, 1) + bytes((4 << 20) - 100))
calls, whole = [], 0
end = time.monotonic() + 8
while len(calls) < 200 and time.monotonic() < end:
    try:
        calls.append(socket.create_connection((sys.argv[1], 9476), 2))
        calls[-1].settimeout(2)
        calls[-1].sendall(hello)
        whole += 1
    except OSError:
        time.sleep(0.02)
print(whole, flush=True)
time.sleep(600)
"""


@row("200 callers of muster check without a token, 4 MiB each")
def callers(scene):
    if os.geteuid() != 0 or not shutil.which("ip"):
        raise Skipped("needs root and ip")
    here = "10.77.0.1"
    net = ("ip link set lo up && ip link add d0 type veth peer name "
           f"d1 && ip addr add {here}/24 dev d0 && ip link set d0 up && "
           "ip link set d1 up")
    with scene.muster("check", "--hosts", f"{here}:9476,10.77.0.2:9476",
                      "--rank", "0", "--wait", "15s",
                      before=["unshare", "-n", *victim.limited(net)]) as run:
        time.sleep(1)
        with victim.Victim(["nsenter", "-t", str(run.pid), "-n", "python3",
                            "-c", CALLERS, here], scene.folder / "c") as calls:
            # The network is checked by a process of its own.
            most, end = 0, time.monotonic() + 30
            while run.wait(0.05) is None and time.monotonic() < end:
                most = max(most, *map(victim.peak_of, run.left(True)), 0)
            sent = calls.out().strip() or "no"
    return (f"{sent} hellos of 4 MiB taken, {most} MiB at most, "
            f"{ending(run)[:90]}", most < 64 and not hangs(run))


@row("plug-in named without a folder")
def plugin_path(scene):
    """The library of the folder is checked: is it the one that is loaded?"""
    proof, _ = loader_flags(scene)
    for where in ("here", "there"):
        (scene.folder / where).mkdir()
        source = (f'#include <stdio.h>\n__attribute__((constructor)) static '
                  f'void Ran(void) {{ FILE* f = fopen("{proof}", "a"); '
                  f'if (f) {{ fputs("{where}\\n", f); fclose(f); }} }}\n')
        scene.compiled(source, f"{where}/libplug.so")
    (scene.folder / "here" / "g.mlir").write_text(
        "module { func.func @main() { return } }\n")
    run = scene.ended("check", "program", "g.mlir", "--plugin", "libplug.so",
                      "--on", "v5e:2x4", name="here",
                      LD_LIBRARY_PATH=str(scene.folder / "there"))
    loaded = set(proof.read_text().split())
    return (f"loaded: {', '.join(sorted(loaded)) or 'none'}; {ending(run)}",
            "there" not in loaded)
