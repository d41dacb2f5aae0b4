#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a Debian 12 with nothing but its base system, Python and venv, in which
# tests/package/root_test.py installs the packages. Minutes; needs root.
#   tools/bare_root.sh
set -euo pipefail
cd "$(dirname "$0")/.."

root=build/root-bookworm
[ -e "$root.made" ] && exit
[ "$(id -u)" -eq 0 ] || {
  echo "muster: no bare Debian for package_root: that takes root" >&2
  exit
}
rm -rf "$root"
debootstrap --variant=minbase --include=python3-venv bookworm "$root" \
  >"$root.log"
touch "$root.made"
