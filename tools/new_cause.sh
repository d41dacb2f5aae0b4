#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the file of a new cause from the template.
#   tools/new_cause.sh network net-mtu
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -ne 2 ] || ! [[ $2 =~ ^[a-z][a-z0-9]*(-[a-z0-9]+)*$ ]]; then
  echo "usage: tools/new_cause.sh FAMILY LABEL   (LABEL: lower-case words joined by -)" >&2
  echo "families: $(find causes -mindepth 1 -maxdepth 1 -type d -printf '%f ')" >&2
  exit 2
fi
file=causes/$1/$2.md
if [ -n "$(find causes -name "$2.md")" ]; then
  echo "the cause $2 exists: $(find causes -name "$2.md")" >&2
  exit 2
fi
mkdir -p "causes/$1"
sed -e "s/LABEL/$2/g" tools/cause_template.md >"$file"
echo "$file: fill in what says TODO; the build checks it"
