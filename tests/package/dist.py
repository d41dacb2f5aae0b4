# SPDX-License-Identifier: Apache-2.0
"""What the tests of packages share: the packages themselves."""
import hashlib
import os
import pathlib
import subprocess
import sys
import zipfile

SOURCE = pathlib.Path(os.environ["MUSTER_SOURCE"])
BINARY = pathlib.Path(os.environ["MUSTER_BINARY"])
DIST = SOURCE / "dist"


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def only(pattern):
    """The one package of that name; ends the test if there is none of this
    build."""
    found = sorted(DIST.glob(pattern))
    if len(found) != 1:
        skip("no packages in dist: make package")
    wheel = zipfile.ZipFile(next(iter(DIST.glob("*.whl"))))
    ours = hashlib.sha256(BINARY.read_bytes()).digest()
    if hashlib.sha256(wheel.read("muster/bin/muster")).digest() != ours:
        skip("dist is of another build: make package")
    return found[0]


def run(*argv, code=0, **options):
    """What it prints; its exit code must be as said."""
    done = subprocess.run([*map(str, argv)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300,
                          check=False, **options)
    assert done.returncode == code, (
        f"{argv}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout
