#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzzer on its corpus, then for the given number of seconds.
#   tools/fuzz.sh SECONDS
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
cmake --preset asan >build/asan.log 2>&1 || { cat build/asan.log; exit 1; }
cmake --build --preset asan -j "${JOBS:-$(nproc)}" --target muster_fuzzers
python3 tests/fuzz/seeds.py tests/data/resolve/vectors build/asan/fuzz/seeds

# A fuzzer reads all that it is given before it makes anything of it, and its
# time counts from there: it begins with at most so many, from all over.
most_seeds=24
sample() { # FROM… TO
  local to=${*: -1} files
  rm -rf "$to"
  mkdir -p "$to"
  mapfile -t files < <(find "${@:1:$#-1}" -type f | sort)
  local count=${#files[@]} i
  local some=$((count < most_seeds ? count : most_seeds))
  for ((i = 0; i < some; i++)); do
    cp "${files[i * count / some]}" "$to/$i"
  done
  echo "$some"
}

count=0
for fuzzer in build/asan/fuzz/*_fuzz; do
  name=$(basename "$fuzzer")
  corpus=tests/fuzz/corpus/$name
  scratch=build/asan/fuzz/found/$name
  seeds=build/asan/fuzz/seeds/$name
  begin=build/asan/fuzz/begin/$name
  new=build/asan/fuzz/new/$name
  mkdir -p "$corpus" "$scratch" "$seeds" "$new"
  echo "fuzz: $name on its corpus, then for $seconds s"
  "$fuzzer" -runs=0 -verbosity=0 -artifact_prefix="$scratch/" \
    "$scratch" "$corpus" "$seeds"
  given=$(sample "$scratch" "$corpus" "$seeds" "$begin")
  log=build/asan/fuzz/$name.log
  for time in "$seconds" $((4 * seconds)); do # a busy machine is given more
    "$fuzzer" -max_total_time="$time" -print_final_stats=1 -verbosity=0 \
      -artifact_prefix="$scratch/" "$new" "$begin" 2>&1 | tee "$log"
    find "$new" -type f -exec mv -t "$scratch" {} +
    made=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    [ "${made:-0}" -le "$given" ] || break
  done
  if [ "${made:-0}" -le "$given" ]; then
    echo "fuzz: $name made nothing of its $given seeds in $time s" >&2
    exit 1
  fi
  count=$((count + 1))
done
[ "$count" -gt 0 ] || { echo "fuzz: no fuzzer was built" >&2; exit 1; }
echo "fuzz: $count fuzzers, nothing found"
