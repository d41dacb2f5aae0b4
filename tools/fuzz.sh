#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzzer for the given number of seconds, on its corpus first.
#   tools/fuzz.sh SECONDS
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
CC=clang-14 CXX=clang++-14 cmake --preset dev -B build/fuzz -DMUSTER_FUZZ=ON \
  -DMUSTER_WITH_TORCH=OFF -DMUSTER_WITH_GRPC=OFF >build/fuzz.log 2>&1 ||
  { cat build/fuzz.log; exit 1; }
cmake --build build/fuzz -j "${JOBS:-$(nproc)}" --target muster_fuzzers
python3 tests/fuzz/seeds.py tests/data/resolve/vectors build/fuzz/seeds
count=0
for fuzzer in build/fuzz/fuzz/*_fuzz; do
  corpus=tests/fuzz/corpus/$(basename "$fuzzer")
  scratch=build/fuzz/found/$(basename "$fuzzer")
  seeds=build/fuzz/seeds/$(basename "$fuzzer")
  mkdir -p "$corpus" "$scratch" "$seeds"
  echo "fuzz: $(basename "$fuzzer") for $seconds s"
  "$fuzzer" -max_total_time="$seconds" -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="$scratch/" "$scratch" "$corpus" "$seeds"
  count=$((count + 1))
done
[ "$count" -gt 0 ] || { echo "fuzz: no fuzzer was built" >&2; exit 1; }
echo "fuzz: $count fuzzers, nothing found"
