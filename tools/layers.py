#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a module includes only what the house allows (ARCHITECTURE.md).

Also: third-party headers are included by their owners only, and the operating
system's headers by sys and the few files that say why.

  tools/layers.py [--root DIR]      prints FILE:LINE: what is wrong; exit 1
  tools/layers.py --table           prints ARCHITECTURE.md with its table of rooms
"""
import argparse
import pathlib
import re
import sys

ALLOWED = {
    "base": set(),
    "finding": {"base"},
    "cluster": {"base"},
    "wire": {"base", "finding", "cluster"},
    "sys": {"base", "finding", "cluster", "wire"},
    "accelerator": {"base", "sys"},
    "checkpoint": {"base", "sys"},
    "collective": {"base", "wire", "sys"},
    "input": {"base", "sys"},
    "member": {"base", "wire", "sys"},
    "cloud": {"base", "finding", "cluster", "sys", "accelerator"},
    "channel": {"base", "cluster", "wire", "sys"},
    "record": {"base", "finding", "cluster", "wire", "sys"},
    "identify": {"base", "finding", "cluster", "wire", "sys", "channel"},
    "resolve": {"base", "finding", "cluster", "wire", "sys", "accelerator",
                "cloud"},
    "settings": {"base", "cluster", "sys", "resolve"},
    "rendezvous": {"base", "finding", "cluster", "wire", "sys", "channel"},
    "netcheck": {"base", "finding", "cluster", "wire", "sys", "channel"},
    "diagnose": {"base", "finding", "wire", "sys", "accelerator"},
    "pjrt": {"base", "wire", "sys", "checkpoint", "member"},
    "monitor": {"base", "finding", "wire", "sys", "record", "diagnose"},
    "program": {"base", "finding", "cluster", "wire", "sys", "accelerator",
                "pjrt"},
    "check": {"base", "finding", "cluster", "wire", "sys", "accelerator", "channel",
              "identify", "netcheck", "pjrt"},
    "train": {"base", "cluster", "wire", "sys", "checkpoint", "collective",
              "input", "member"},
    "remote": {"base", "finding", "cluster", "sys", "cloud", "channel",
               "record", "resolve", "settings"},
    "run": {"base", "accelerator", "finding", "cluster", "wire", "sys", "channel", "record",
            "resolve", "settings", "rendezvous", "netcheck", "diagnose",
            "monitor", "remote"},
    "cli": {"base", "finding", "cluster", "sys", "accelerator", "cloud",
            "channel", "record", "identify", "resolve", "settings", "diagnose",
            "monitor", "program", "check", "remote", "run"},
}

# What a room is, for the table of ARCHITECTURE.md.
ABOUT = {
    "base": "Cause (generated), Error, Result, Fact, Deadline, Mutex, text, "
            "JSON, log, `redact/`; no I/O",
    "finding": "Finding, Outcome, the catalogue's texts, exit codes, rendering",
    "cluster": "Cluster, Member, Address, `Sourced<T>`",
    "wire": "what crosses a process or a host: messages, frames, the progress "
            "page",
    "sys": "the OS seam: `file/ process/ signal/ net/ time/ terminal/`; "
           "`fake/` for tests",
    "accelerator": "TPUs and GPUs: which there are, which are here",
    "checkpoint": "safetensors, manifest, atomic write, the newest good one",
    "collective": "the interface; shared memory among the ranks of a host",
    "input": "datasets, sampler, loader that works ahead",
    "member": "the rank's side: session, store, step meter",
    "cloud": "Google Cloud: `auth/ api/ tpu/`",
    "channel": "transport between agents: in process, gRPC; keep-alive; "
               "`security/`",
    "record": "the facts of a run on disk: events, journal, report",
    "identify": "who answers at an address that is not ours: `protocols/`",
    "resolve": "which cluster is this: `sources/ formats/ platform/`",
    "settings": "every setting with its source; what `muster run` was asked",
    "rendezvous": "roll call: who is there, who is missing and why",
    "netcheck": "`mesh/` (reachability of all pairs), `bandwidth/`, "
                "`diagnosis/` (few faults that explain all bad paths)",
    "diagnose": "`read/` (files, archives), `match/` (patterns), "
                "`derive/` (compared facts), "
                "`verdict/` (root before victims, cause)",
    "pjrt": "plug-ins of accelerators: `plugin/`, `program/`; trains on their "
            "devices",
    "monitor": "`progress/ stall/ resource/ metric/`",
    "program": "will it compile, fit and run: `compiler/ graph/ fit/`",
    "check": "the runner and `checks/`, one file a check",
    "train": "strategies, trainer, Gloo: the only user of libtorch",
    "remote": "agents on other hosts: ssh, copies, workers of a TPU",
    "run": "`session.cc` wires `coordinator/`, `agent/` and `plan/`",
    "cli": "one verb a file",
}

# Which module a public header belongs to.
PUBLIC = {
    "address": "cluster", "cause": "base", "deadline": "base", "dtype": "base",
    "error": "base",
    "fact": "base", "retry": "base", "version": "base", "cluster": "cluster",
    "resolve": "resolve", "session": "member", "collective": "collective", "dataset": "input",
    "checkpoint": "checkpoint", "pjrt": "pjrt", "train": "train",
}

# Third-party header -> the modules (or single files) that may include it.
THIRD_PARTY = {
    r"nlohmann/": {"src/base/json.h", "src/base/json_fwd.h"},
    r"spdlog/|fmt/": {"src/base/log.cc"},
    r"grpc|google/protobuf|.*\.pb\.h": {"channel"},
    r"torch/|ATen/|c10/": {"train"},
    r"gloo/": {"train"},
    r"openssl/": {"channel", "cloud"},
    r"curl/": {"src/sys/net/curl_http.cc"},
    r"isa-l": {"input"},
    r"zlib\.h": {"input", "diagnose"},
    r"zstd\.h": {"diagnose"},
    r"yaml-cpp/": {"tools"},
    r"re2/": {"tools", "diagnose"},
    r"toml\+\+/": {"src/settings/settings_file.cc"},
}

# Headers of the operating system; include/ and every module but sys must say
# why (an entry here) when they need one.
SYSTEM = re.compile(
    r"^(sys/(auxv|epoll|eventfd|fanotify|file|inotify|ioctl|ipc|klog|mman|mount|"
    r"msg|param|personality|poll|prctl|ptrace|quota|random|reboot|resource|"
    r"select|sem|sendfile|shm|signalfd|socket|stat|statfs|statvfs|syscall|"
    r"sysinfo|sysmacros|time|timerfd|times|timex|types|uio|un|utsname|vfs|wait|"
    r"xattr)\.h|(arpa|asm|linux|net|netinet)/.*|(aio|dirent|dlfcn|execinfo|fcntl|"
    r"ftw|glob|grp|ifaddrs|link|malloc|mntent|mqueue|netdb|poll|pthread|pty|pwd|"
    r"resolv|sched|semaphore|signal|spawn|syslog|termios|ucontext|unistd|utime|"
    r"utmp|wordexp)\.h)$")
SYSTEM_ALLOWED = {
    "sys": "the seam",
    "src/cluster/address.cc": "inet_pton: what is a literal and what a name",
    "src/collective/": "maps the segment and sleeps on a futex",
    "src/channel/grpc/arc4random.cc": "is libc where that has no such function",
    "src/train/allocator.cc": "mallopt",
}

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')


def module_of(path):
    parts = path.parts
    if parts[0] == "src":
        return parts[1]
    if parts[:2] == ("include", "muster"):
        return PUBLIC.get(path.stem)
    return None


def is_test(path):
    return path.name.endswith("_test.cc") or "conformance" in path.name


def is_system(name, bracket, root):
    """True for the operating system's: our module has the name of its folder,
    and quotes find its headers, too."""
    return bool(SYSTEM.match(name)) and (
        bracket == "<" or not (root / "src" / name).exists())


def target_of(name, bracket):
    """The module that an include leads to, or None for foreign headers."""
    if name.startswith("muster/"):
        return PUBLIC.get(pathlib.Path(name).stem)
    head = name.split("/")[0]
    if bracket == '"' and head in ALLOWED:
        return head
    return None


def problems_of(path, root):
    module = module_of(path)
    if module is None:
        if path.parts[0] == "include":
            yield 1, f"public header without an owner: add it to PUBLIC"
        return
    for number, line in enumerate((root / path).read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        bracket, name = match.groups()
        yield from foreign_problems(path, module, number, name,
                                    is_system(name, bracket, root))
        target = target_of(name, bracket)
        if target is None and name.startswith("muster/"):
            yield number, f"{name} is no public header of ours"
        if (target and target != module and target not in ALLOWED[module]
                and not (is_test(path) and target in ("sys", "base"))):
            yield number, f"{module} may not include {target} ({name})"


def foreign_problems(path, module, number, name, of_system):
    if is_test(path):
        return
    for pattern, owners in THIRD_PARTY.items():
        if re.match(pattern, name):
            if module not in owners and str(path) not in owners:
                yield number, f"{name} is for {', '.join(sorted(owners))} only"
    if of_system:
        if not any(module == key or str(path).startswith(key)
                   for key in SYSTEM_ALLOWED):
            yield number, f"{name} is the operating system: go through src/sys"


def architecture(root):
    """ARCHITECTURE.md with the table of rooms as it should be."""
    rows = ["| room | is | may include |", "|---|---|---|"]
    rows += [f"| `{room}` | {ABOUT[room]} | "
             + (" ".join(one for one in ALLOWED if one in includes) or "–")
             + " |" for room, includes in ALLOWED.items()]
    text = (root / "ARCHITECTURE.md").read_text()
    head, rest = text.split("<!-- rooms -->\n", 1)
    tail = rest.split("<!-- end of rooms -->", 1)[1]
    return (head + "<!-- rooms -->\n" + "\n".join(rows)
            + "\n<!-- end of rooms -->" + tail)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=pathlib.Path(__file__).parent.parent)
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    root = pathlib.Path(args.root).resolve()
    if args.table:
        print(architecture(root), end="")
        return 0
    files = sorted(p.relative_to(root)
                   for folder in ("src", "include")
                   for p in (root / folder).rglob("*")
                   if p.suffix in (".h", ".cc"))
    bad = 0
    for path in files:
        for number, what in problems_of(path, root):
            print(f"{path}:{number}: {what}")
            bad += 1
    print(f"layers: {len(files)} files, {bad} problems", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
