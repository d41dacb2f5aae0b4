# SPDX-License-Identifier: Apache-2.0
"""Damaged checkpoints: none is loaded, none holds the run up, each is named."""
import itertools
import json
import os
import pathlib
import random
import shutil
import socket
import stat

import victim

MODEL, MANIFEST = "model.safetensors", "manifest.json"
OLD, DAMAGED = "step-0000000400", "step-0000000450"
NOBODY = 65534
HUGE = 1 << 40


class Damage:
    """What is done to a checkpoint, or to one file of it."""

    def __init__(self, name, make, *, stops=False, before=()):
        self.name, self.make = name, make
        # By docs/reference/checkpoint-format.md the start may stop for it:
        # the checkpoint may be good.
        self.stops = stops
        self.before = before


def in_place_of(make):
    def damage(path):
        path.unlink()
        make(path)
    return damage


def truncated(size):
    return lambda path: os.truncate(path, size)


def flipped(place, bit):
    def damage(path):
        data = bytearray(path.read_bytes())
        data[place] ^= 1 << bit
        path.write_bytes(data)
    return damage


def overwritten(place, data):
    def damage(path):
        with open(path, "r+b") as file:
            file.seek(place)
            file.write(data)
    return damage


def bound_socket(path):
    # The name of a socket may have 107 bytes.
    with socket.socket(socket.AF_UNIX) as made:
        here = os.open(path.parent, os.O_RDONLY)
        made.bind(f"/proc/self/fd/{here}/{path.name}")
        os.close(here)


def device(kind, major, minor):
    return lambda path: os.mknod(path, kind | 0o666,
                                 os.makedev(major, minor))


def linked_to_pipe(path):
    os.mkfifo(path.parent / "pipe")
    path.symlink_to("pipe")


# Each in place of the model, and in place of the manifest.
KINDS = {
    "missing": lambda path: None,
    "empty": pathlib.Path.touch,
    "a folder": pathlib.Path.mkdir,
    "a pipe": os.mkfifo,
    "a socket": bound_socket,
    "the device null": device(stat.S_IFCHR, 1, 3),
    "the device zero": device(stat.S_IFCHR, 1, 5),
    "the device full": device(stat.S_IFCHR, 1, 7),
    "the device random": device(stat.S_IFCHR, 1, 8),
    "a disk that is not there": device(stat.S_IFBLK, 7, 250),
    "a link to zero": lambda path: path.symlink_to("/dev/zero"),
    "a link to a pipe": linked_to_pipe,
    "a link to a terminal": lambda path: path.symlink_to("/dev/ptmx"),
    "a link to a folder": lambda path: path.symlink_to("/"),
    "a link to memory": lambda path: path.symlink_to("/proc/self/mem"),
    "a link to nothing": lambda path: path.symlink_to("gone"),
}
# The kernel names a loop of links, and a device without a driver: nobody knows
# whether a good file is behind them.
MAY_STOP = ("a disk that is not there", "a link to itself")


def edited(**changes):
    def damage(path):
        manifest = json.loads(path.read_text()) | changes
        path.write_text(json.dumps(
            {name: value for name, value in manifest.items()
             if value is not None}))
    return damage


MANIFESTS = {
    "not JSON": lambda path: path.write_text("step 450"),
    "half of it": lambda path: os.truncate(path, 60),
    "zeros": lambda path: path.write_bytes(bytes(125)),
    "not UTF-8": lambda path: path.write_bytes(b'{"schema": "\xff\xfe"}'),
    "an array": lambda path: path.write_text("[]"),
    "null": lambda path: path.write_text("null"),
    "a number": lambda path: path.write_text("450"),
    "an empty object": lambda path: path.write_text("{}"),
    "100,000 brackets": lambda path: path.write_text("[" * 100_000),
    "two documents": lambda path: path.write_text(path.read_text() * 2),
    "no step": edited(step=None),
    "another step": edited(step=400),
    "a negative step": edited(step=-450),
    "step as text": edited(step="450"),
    "step as fraction": edited(step=450.5),
    "step beyond 64 bits": edited(step=2 ** 70),
    "no bytes": edited(bytes=None),
    "fewer bytes": edited(bytes=1000),
    "negative bytes": edited(bytes=-1),
    "bytes beyond 64 bits": edited(bytes=2 ** 64 + 1222848),
    "no crc": edited(crc32c=None),
    "another crc": edited(crc32c="00000000"),
    "crc as number": edited(crc32c=0),
    "crc that is too long": edited(crc32c="0" * 4096),
    "no schema": edited(schema=None),
    "schema as array": edited(schema=["muster.checkpoint/1"]),
}


def huge(folder):
    """A model of a tebibyte that takes no room, and a manifest that agrees."""
    os.truncate(folder / MODEL, HUGE)
    edited(bytes=HUGE)(folder / MANIFEST)


def signed(damage):
    """Damage that the check sum does not show."""
    def both(folder):
        damage(folder / MODEL)
        data = (folder / MODEL).read_bytes()
        edited(bytes=len(data), crc32c=f"{crc32c(data):08x}")(
            folder / MANIFEST)
    return both


def crc32c(data):
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def of_older(*names):
    def damage(folder):
        for name in names:
            shutil.copy(folder.parent / OLD / name, folder / name)
    return damage


def replaced(make):
    def damage(folder):
        shutil.rmtree(folder)
        make(folder)
    return damage


def in_file(name, damage):
    return lambda folder: damage(folder / name)


def of_nobody(name):
    def damage(folder):
        (folder / name).chmod(0)
        for path in (folder.parent, *folder.parent.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    return damage


def as_nobody():
    return ("setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY),
            "--clear-groups")


def loop(path):
    path.symlink_to(path.name)


def damages(size, chance):
    for _ in range(15):
        at = chance.randrange(size)
        yield Damage(f"model cut at {at}", in_file(MODEL, truncated(at)))
    for at in (chance.randrange(8), *(chance.randrange(8, 900)
                                      for _ in range(5)),
               *(chance.randrange(900, size) for _ in range(10))):
        bit = chance.randrange(8)
        yield Damage(f"model, bit {bit} of byte {at}",
                     in_file(MODEL, flipped(at, bit)))
    for name, (kind, make) in itertools.product((MODEL, MANIFEST),
                                                KINDS.items()):
        yield Damage(f"{name}: {kind}", in_file(name, in_place_of(make)),
                     stops=kind in MAY_STOP)
    for name in (MODEL, MANIFEST):
        yield Damage(f"{name}: a link to itself",
                     in_file(name, in_place_of(loop)), stops=True)
        yield Damage(f"{name}: may not be read", of_nobody(name), stops=True,
                     before=as_nobody())
    for form, make in MANIFESTS.items():
        yield Damage(f"manifest: {form}", in_file(MANIFEST, make))
    yield Damage("manifest: another format", in_file(
        MANIFEST, edited(schema="muster.checkpoint/9")), stops=True)
    yield Damage("the model of an older step", of_older(MODEL))
    yield Damage("the manifest of an older step", of_older(MANIFEST))
    yield Damage("both files of an older step", of_older(MODEL, MANIFEST))
    for kind in ("a pipe", "a socket", "a link to zero", "empty",
                 "a link to nothing"):
        yield Damage(f"the folder: {kind}", replaced(KINDS[kind]))
    yield Damage("longer model", in_file(
        MODEL, lambda path: os.truncate(path, size + 8)))
    yield Damage("a tebibyte", huge,
                 before=victim.limited("ulimit -d 4000000"))
    yield Damage("signed: header of 2^63 bytes", signed(
        overwritten(0, (1 << 63).to_bytes(8, "little"))))
    yield Damage("signed: header of 0 bytes", signed(
        overwritten(0, bytes(8))))
    yield Damage("signed: header is not JSON", signed(
        overwritten(8, b"\xff\xff")))
    yield Damage("signed: cut in the buffer", signed(truncated(size - 4)))


def wrong_in(lab, damage, run, checkpoints):
    """What is not as it has to be."""
    code = run.wait()
    said = run.out() + run.err()
    named = [line for line in said.splitlines() if DAMAGED in line and
             "resuming" not in line]
    if code is None:
        yield f"hangs: {run.last()}"
    elif f"step={int(DAMAGED[5:])} path" in said:
        yield "is loaded"
    elif code != 0 and damage.stops:
        if not named:
            yield f"code {code}, and it is not named: {run.last()}"
        if run.cause() in (None, "internal-error"):
            yield f"code {code}, no true cause: {run.last()}"
    elif code != 0:
        yield f"code {code}: {run.last()}"
    elif not named:
        yield "no warning names it"
    elif victim.newest(checkpoints) != lab.newest:
        yield "the end is not that of a calm run"


def play_one(lab, damage, good):
    with victim.folder_of("checkpoint") as folder:
        checkpoints = folder / "checkpoints"
        shutil.copytree(good, checkpoints)
        shutil.rmtree(checkpoints / lab.last)
        damage.make(checkpoints / DAMAGED)
        if damage.before:
            os.chown(folder, NOBODY, NOBODY)
        with victim.train(lab.program, lab.trainer, folder, checkpoints,
                          before=damage.before) as run:
            return list(wrong_in(lab, damage, run, checkpoints)), run.seconds


def play(lab):
    failures, longest, count = 0, 0.0, 0
    with victim.folder_of("good") as folder:
        good = folder / "checkpoints"
        with victim.train(lab.program, lab.trainer, folder, good) as run:
            if run.wait() != 0:
                raise SystemExit(f"a calm run fails: {run.err()}")
        lab.newest = victim.newest(good)
        lab.last = min(lab.newest).split("/")[0]
        size = (good / DAMAGED / MODEL).stat().st_size
        for damage in damages(size, random.Random(lab.seed)):
            wrong, seconds = play_one(lab, damage, good)
            count, longest = count + 1, max(longest, seconds)
            failures += bool(wrong)
            for what in wrong:
                print(f"{damage.name}: {what}", flush=True)
    print(f"{count} damaged checkpoints, {failures} failures, "
          f"longest run {longest:.1f} s")
    return failures
