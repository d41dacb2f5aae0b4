#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The generated pages of docs/reference.
#   tools/docs.sh            writes them
#   tools/docs.sh --check    one line for each page that is stale; then exit 1
# BUILD (build/release) holds the programs that print two of them. What is not
# built there is not checked, and a line says so.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${BUILD:-build/release}
made=$(mktemp)
trap 'rm -f "$made"' EXIT
status=0

page() { # NAME PROGRAM WORD…: what `WORD…` prints
  local file=docs/reference/$1 program=$2
  shift 2
  if [ ! -x "$program" ]; then
    echo "$file: not checked, $program is not built"
    return
  fi
  "$@" >"$made"
  if cmp -s "$made" "$file"; then
    return
  elif [ "$check" = yes ]; then
    echo "$file is stale: \`make docs\` writes it"
    status=1
  else
    cp "$made" "$file"
    echo "$file written"
  fi
}

check=no
if [ "${1:-}" = --check ]; then
  check=yes
fi
muster=$build/muster
sources=$(find "$build/src" -name resolve_reference -type f 2>/dev/null | head -n 1) || true
page causes.md tools/causes_reference.py tools/causes_reference.py
page settings.md tools/settings_reference.py tools/settings_reference.py
page cli.md "$muster" tools/cli_reference.py "$muster"
page resolve.md "${sources:-resolve_reference}" "$sources"
exit "$status"
