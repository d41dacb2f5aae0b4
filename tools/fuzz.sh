#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzzer on its corpus, then for the given number of seconds; as many
# at once as there are processors.
#   tools/fuzz.sh SECONDS
set -euo pipefail
cd "$(dirname "$0")/.."

# A fuzzer reads all that it is given before it makes anything of it, and its
# time counts from there: it begins with at most so many, from all over.
max_seeds=24
sample() { # FROM… TO
  local to=${*: -1} files
  rm -rf "$to"
  mkdir -p "$to"
  mapfile -t files < <(find "${@:1:$#-1}" -type f | sort)
  local count=${#files[@]} i
  local some=$((count < max_seeds ? count : max_seeds))
  for ((i = 0; i < some; i++)); do
    cp "${files[i * count / some]}" "$to/$i"
  done
  echo "$some"
}

fuzz() { # FUZZER SECONDS
  local name given made=0 time
  name=$(basename "$1")
  local corpus=tests/fuzz/corpus/$name
  local scratch=build/asan/fuzz/found/$name
  local seeds=build/asan/fuzz/seeds/$name
  local begin=build/asan/fuzz/begin/$name
  local new=build/asan/fuzz/new/$name
  local log=build/asan/fuzz/$name.log
  mkdir -p "$corpus" "$scratch" "$seeds" "$new"
  "$1" -runs=0 -verbosity=0 -artifact_prefix="$scratch/" \
    "$scratch" "$corpus" "$seeds"
  given=$(sample "$scratch" "$corpus" "$seeds" "$begin")
  for time in "$2" $((4 * $2)); do # a busy machine is given more
    "$1" -max_total_time="$time" -print_final_stats=1 -verbosity=0 \
      -artifact_prefix="$scratch/" "$new" "$begin" >"$log" 2>&1 ||
      { cat "$log"; return 1; }
    find "$new" -type f -exec mv -t "$scratch" {} +
    made=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    [ "${made:-0}" -le "$given" ] || break
  done
  if [ "${made:-0}" -le "$given" ]; then
    echo "fuzz: $name made nothing of its $given seeds in $time s" >&2
    return 1
  fi
  echo "fuzz: $name ran on its corpus, then $made inputs in $time s"
}

if [ $# -eq 2 ]; then # one fuzzer, for the line below
  fuzz "$2" "$1"
  exit
fi
seconds=${1:-60}
jobs=${JOBS:-$(nproc)}
cmake --preset asan >build/asan.log 2>&1 || { cat build/asan.log; exit 1; }
cmake --build --preset asan -j "$jobs" --target muster_fuzzers
python3 tests/fuzz/seeds.py tests/data/resolve/vectors build/asan/fuzz/seeds
fuzzers=(build/asan/fuzz/*_fuzz)
[ -x "${fuzzers[0]}" ] || { echo "fuzz: no fuzzer was built" >&2; exit 1; }
printf '%s\n' "${fuzzers[@]}" | xargs -P "$jobs" -n 1 tools/fuzz.sh "$seconds"
echo "fuzz: ${#fuzzers[@]} fuzzers, nothing found"
