#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs the wheel from what `cmake --install --component program` left.

  packaging/wheel.py PREFIX DIST

The platform tag is checked: the program may need no other libraries, and no
newer symbols of glibc, than it promises.
"""
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "python"))
# pylint: disable=wrong-import-position
from muster._program import GLIBC  # noqa: E402

TAG = "py3-none-manylinux_{}_{}_x86_64".format(*GLIBC)
# Of those that every manylinux system has, the ones that we may need.
LIBRARIES = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
METADATA = """\
Metadata-Version: 2.1
Name: muster
Version: {version}
Summary: Brings a training cluster from addresses to a finished run
License: Apache-2.0
License-File: LICENSE
License-File: third-party.txt
Requires-Python: >=3.9
Classifier: Operating System :: POSIX :: Linux
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

{readme}"""
WHEEL = f"""\
Wheel-Version: 1.0
Generator: packaging/wheel.py
Root-Is-Purelib: false
Tag: {TAG}
"""
ENTRY_POINTS = "[console_scripts]\nmuster = muster._program:main\n"


def check_program(path):
    """Exits unless the tag is true."""
    text = subprocess.run(["objdump", "-p", "-T", path], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    libraries = set(re.findall(r"^ +NEEDED +(\S+)", text, re.M))
    if not libraries <= LIBRARIES:
        sys.exit(f"{path} needs {sorted(libraries - LIBRARIES)}, which not "
                 "every system has")
    newer = {(version, name) for version, name in re.findall(
        r"\(?GLIBC_([0-9.]+)\)? +(\S+)$", text, re.M)
        if tuple(map(int, version.split(".")))[:2] > GLIBC}
    if newer or "GLIBC_" not in text:
        sys.exit(f"{path} needs a newer glibc than {TAG} says: {sorted(newer)}")


def files_of(prefix, version):
    """(name in the wheel, bytes, mode), RECORD left out."""
    info = f"muster-{version}.dist-info"
    for path in sorted((HERE / "python" / "muster").glob("*")):
        if path.is_file():
            yield f"muster/{path.name}", path.read_bytes(), 0o644
    yield "muster/bin/muster", (prefix / "bin" / "muster").read_bytes(), 0o755
    for path in sorted((prefix / "share").rglob("*")):
        name = path.relative_to(prefix)
        if path.is_file() and name.parts[1] not in ("doc", "lintian"):
            yield (f"muster-{version}.data/data/{name}", path.read_bytes(),
                   0o644)
    for name in ("third-party.txt", "muster.spdx.json"):
        yield (f"{info}/licenses/{name}",
               (prefix / "share" / "doc" / "muster" / name).read_bytes(), 0o644)
    root = HERE.parent
    yield (f"{info}/licenses/LICENSE", (root / "LICENSE").read_bytes(), 0o644)
    readme = (root / "README.md").read_text()
    for name, text in (("METADATA", METADATA.format(version=version,
                                                    readme=readme)),
                       ("WHEEL", WHEEL), ("entry_points.txt", ENTRY_POINTS)):
        yield f"{info}/{name}", text.encode(), 0o644


def main():
    prefix, dist = map(pathlib.Path, sys.argv[1:])
    version = re.search(r'kVersion = "([0-9.]+)"', (
        HERE.parent / "include/muster/version.h").read_text())[1]
    check_program(prefix / "bin" / "muster")
    when = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    record = f"muster-{version}.dist-info/RECORD"
    rows = []
    wheel = dist / f"muster-{version}-{TAG}.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        def add(name, content, mode):
            entry = zipfile.ZipInfo(name, when)
            entry.external_attr = (0o100000 | mode) << 16
            entry.create_system = 3
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
        for name, content, mode in files_of(prefix, version):
            add(name, content, mode)
            digest = base64.urlsafe_b64encode(
                hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(content)}\n")
        add(record, "".join([*rows, f"{record},,\n"]).encode(), 0o644)


if __name__ == "__main__":
    main()
