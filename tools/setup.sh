#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing of tools/packages.txt, and of the lists that are given
# beside it. Does nothing, in well under a second, when everything is there.
set -euo pipefail
cd "$(dirname "$0")/.."

packages_text=$(cat tools/packages.txt "$@" |
  sed -e 's/#.*//' -e '/^[[:space:]]*$/d')
mapfile -t packages <<<"$packages_text"

if ! command -v dpkg-query >/dev/null; then
  echo "muster: this set-up knows Debian 12 (apt) only; install by hand:" >&2
  printf '  %s\n' "${packages[@]}" >&2
  exit 2
fi

missing_packages() {
  local installed
  installed=$(dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' 2>/dev/null |
    awk '$1 == "ii" { print $2 }')
  comm -23 <(printf '%s\n' "${packages[@]}" | sort -u) \
    <(printf '%s\n' "$installed" | sort -u)
}

missing_text=$(missing_packages)
[ -n "$missing_text" ] || exit 0
mapfile -t missing <<<"$missing_text"

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo)
  elif command -v sudo >/dev/null && [ -t 0 ]; then
    as_root=(sudo)
  else
    echo "muster: these packages are missing and this user cannot install them." >&2
    echo "Have an administrator run this line, then try again:" >&2
    echo "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 2
  fi
fi

echo "muster: installing ${#missing[@]} packages: ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" \
  >/dev/null
