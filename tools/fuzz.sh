#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzzer for the given number of seconds, on its corpus first.
#   tools/fuzz.sh SECONDS
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
cmake --preset asan >build/asan.log 2>&1 || { cat build/asan.log; exit 1; }
cmake --build --preset asan -j "${JOBS:-$(nproc)}" --target muster_fuzzers
python3 tests/fuzz/seeds.py tests/data/resolve/vectors build/asan/fuzz/seeds
count=0
for fuzzer in build/asan/fuzz/*_fuzz; do
  corpus=tests/fuzz/corpus/$(basename "$fuzzer")
  scratch=build/asan/fuzz/found/$(basename "$fuzzer")
  seeds=build/asan/fuzz/seeds/$(basename "$fuzzer")
  mkdir -p "$corpus" "$scratch" "$seeds"
  echo "fuzz: $(basename "$fuzzer") for $seconds s"
  "$fuzzer" -max_total_time="$seconds" -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="$scratch/" "$scratch" "$corpus" "$seeds"
  count=$((count + 1))
done
[ "$count" -gt 0 ] || { echo "fuzz: no fuzzer was built" >&2; exit 1; }
echo "fuzz: $count fuzzers, nothing found"
