#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything about the code that a machine can judge without running it.
#   tools/lint.sh [FILE.cc …]     only clang-tidy, and only on these files
set -euo pipefail
cd "$(dirname "$0")/.."

build=build/lint
jobs=${JOBS:-$(nproc)}
failed=()

say() { printf '%-18s %s\n' "$1" "$2"; }

step() { # NAME COMMAND…: runs one check and remembers whether it failed
  local name=$1 status
  shift
  # As a condition it would go on after its first failure.
  set +e
  (
    set -e
    "$@"
  ) >"build/lint-$name.log" 2>&1
  status=$?
  set -e
  if [ "$status" -eq 0 ]; then
    say "$name" ok
  else
    say "$name" "FAILED (build/lint-$name.log)"
    cat "build/lint-$name.log"
    failed+=("$name")
  fi
}

ours() { git ls-files -- '*.h' '*.cc'; }

check_format() { ours | xargs clang-format-14 --dry-run -Werror; }

configure() {
  # clang-tidy reads clang's flags; the generated headers must exist.
  CC=clang-14 CXX=clang++-14 cmake --preset dev -B "$build" \
    -DMUSTER_WITH_TORCH=OFF -DMUSTER_PCH=OFF
  cmake --build "$build" -j "$jobs" --target muster_generated
}

# clang 14 reads PyTorch 2.13's headers as C++20, Debian's it cannot.
configure_train() {
  local python prefix
  python=${MUSTER_TORCH_PYTHON:-$(tools/python_env.sh torch torch==2.13.0 numpy)}
  prefix=$("$python" -c 'import torch; print(torch.utils.cmake_prefix_path)')
  CC=clang-14 CXX=clang++-14 cmake --preset dev -B "$build-train" \
    -DMUSTER_WITH_GRPC=OFF -DMUSTER_PCH=OFF "-DCMAKE_PREFIX_PATH=$prefix"
  cmake --build "$build-train" -j "$jobs" --target muster_generated
}

tidy() { # BUILD FILE…
  local database=$1
  shift
  printf '%s\n' "$@" |
    xargs -P "$jobs" -n 1 clang-tidy-14 -p "$database" --quiet
}

tidy_all() {
  local text units
  text=$(tools/tidy_units.py "$build" "$build/units")
  mapfile -t units <<<"$text"
  tidy "$build/units" "${units[@]}"
}

# What only that database knows: the train room and who uses it.
tidy_train() {
  local text units
  text=$(tools/tidy_units.py "$build-train" "$build-train/units" "$build")
  mapfile -t units <<<"$text"
  tidy "$build-train/units" "${units[@]}"
}

check_headers() { cmake --build "$build" -j "$jobs" --target muster_headers; }

check_shell() {
  git ls-files -- '*.sh' .ci/run | xargs shellcheck
}

mkdir -p build
if [ $# -gt 0 ]; then
  tidy "$build" "$@"
  exit
fi
step format check_format
step layers python3 tools/layers.py
step shellcheck check_shell
step docs tools/docs.sh --check
step configure configure
step headers check_headers
step clang-tidy tidy_all
step configure-train configure_train
step clang-tidy-train tidy_train

if [ ${#failed[@]} -gt 0 ]; then
  echo "lint: failed: ${failed[*]}" >&2
  exit 1
fi
