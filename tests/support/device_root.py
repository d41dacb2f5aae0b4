# SPDX-License-Identifier: Apache-2.0
"""A /dev and a PCI bus of our own, with chips that are plain files: in a mount
namespace, so that nothing of the machine is touched."""
import shutil
import subprocess

SCRIPT = r"""
root=$1; shift
mount --make-rprivate / && mkdir -p "$root/dev" "$root/pci" &&
mount -t tmpfs tmpfs "$root/dev" && mount -t tmpfs tmpfs "$root/pci" || exit 98
for name in null zero full random urandom tty; do
  touch "$root/dev/$name" && mount --bind "/dev/$name" "$root/dev/$name"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount --rbind /dev/pts "$root/dev/pts"
mount -t tmpfs tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for chip in $CHIPS; do
  touch "$root/dev/accel$chip"
  place=$root/pci/devices/0000:00:0$chip.0
  mkdir -p "$place/accel/accel$chip"
  mkdir -p "$root/pci/drivers/gasket/0000:00:0$chip.0"
  echo 0x1ae0 >"$place/vendor"
  echo 0x005e >"$place/device"
  echo 0x120000 >"$place/class"
done
mount --move "$root/dev" /dev || exit 98
mount --bind "$root/pci" /sys/bus/pci || exit 98
exec "$@"
"""


def why_not():
    """Why there can be none here; "" when there can."""
    if shutil.which("unshare") is None:
        return "there is no unshare"
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c",
         "mount --make-rprivate / && mount -t tmpfs tmpfs /sys/bus/pci"],
        capture_output=True, text=True)
    return "" if done.returncode == 0 else f"no mounts: {done.stderr.strip()}"


def prefix(folder, chips):
    """What stands before a command that is to see that many chips of a v4."""
    numbers = " ".join(str(number) for number in range(chips))
    return ["unshare", "-m", "env", f"CHIPS={numbers}", "sh", "-c", SCRIPT,
            "sh", str(folder / "root")]
