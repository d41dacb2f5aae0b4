#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Reading a log, on one core, beside ripgrep with the same patterns as one
# alternation. Wants a quiet machine and rg.
#   bench/explain.sh [MIB]
set -euo pipefail
cd "$(dirname "$0")/.."

mib=${1:-512}
cmake --build --preset release -j "${JOBS:-$(nproc)}" --target explain_bench >&2
bench=build/release/bench/explain_bench
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
alone=(setpriv --pdeathsig KILL taskset -c 0) # on one core, and not after this
"${alone[@]}" "$bench" "$mib"
if ! command -v rg >/dev/null; then
  echo "rg is not installed: nothing to compare with" >&2
  exit 0
fi
"$bench" --log "$mib" >"$folder/log"
"$bench" --patterns >"$folder/patterns"
# Of the processor, as explain_bench does: user and system seconds. Bytes, as it
# reads them: classes of Unicode would be more work.
TIMEFORMAT='%U %S'
{ time "${alone[@]}" rg --threads 1 --text --count --no-unicode \
  --dfa-size-limit 1G --regex-size-limit 1G --file "$folder/patterns" \
  "$folder/log" >/dev/null 2>"$folder/messages" || echo $? >"$folder/failed"; } \
  2>"$folder/time"
if [ -e "$folder/failed" ]; then
  # It repeats the pattern, which is all of them.
  tail -n 1 "$folder/messages" | cut -c 1-500 >&2
  echo "rg: exit status $(cat "$folder/failed")" >&2
  exit 1
fi
read -r user system <"$folder/time"
awk -v mib="$mib" -v user="$user" -v system_="$system" \
  'BEGIN { printf "%.0f MiB per second of one core  ripgrep, the same patterns\n", mib / (user + system_) }'
