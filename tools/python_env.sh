#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a Python environment of our own under build/ with exactly the packages
# given, and prints its interpreter. What is there already is not made again.
#   tools/python_env.sh NAME PACKAGE==VERSION…
set -euo pipefail
cd "$(dirname "$0")/.."

name=$1
shift
folder=build/venv-$name
wanted=$(printf '%s\n' "$@")
if [ "$(cat "$folder/.packages" 2>/dev/null)" != "$wanted" ]; then
  mkdir -p build
  {
    /usr/bin/python3 -m venv --clear "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check "$@"
  } >&2
  printf '%s\n' "$wanted" >"$folder/.packages"
fi
echo "$PWD/$folder/bin/python3"
