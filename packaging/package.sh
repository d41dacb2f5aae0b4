#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the packages in dist/ of what build/release holds: the wheel, two Debian
# packages, a tarball, and their sha256. The same commit gives the same bytes.
#   packaging/package.sh [BUILD [DIST]]
set -euo pipefail
cd "$(dirname "$0")/.."

build=$(realpath "${1:-build/release}")
dist=${2:-dist}
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
export SOURCE_DATE_EPOCH
umask 022
version=$(sed -n 's/.*kVersion = "\([0-9.]*\)".*/\1/p' include/muster/version.h)

rm -rf "$build/package" "$dist"
mkdir -p "$build/package" "$dist"
packaging/contents.py "$build"

(cd "$build" && cpack -G DEB -B package/cpack) >"$build/package/cpack.log" || {
  cat "$build/package/cpack.log" >&2
  exit 1
}
mv "$build"/package/cpack/*.deb "$dist"

name=muster-$version-linux-x86_64
cmake --install "$build" --component program \
  --prefix "$build/package/$name" >"$build/package/install.log"
rm -r "$build/package/$name/share/lintian"
packaging/wheel.py "$build/package/$name" "$dist"
cp LICENSE README.md "$build/package/$name"
tar -C "$build/package" --sort=name --owner=0 --group=0 --numeric-owner \
  --mtime="@$SOURCE_DATE_EPOCH" -c "$name" | gzip -9n >"$dist/$name.tar.gz"

cd "$dist"
sha256sum -- * >SHA256SUMS
wc -c -- *
