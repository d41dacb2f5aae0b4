#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a machine can judge of the code without running it.
#   tools/lint.sh               clang-tidy on what tools/tidy_files.py chooses
#   tools/lint.sh --all         clang-tidy on everything, and each header alone
#   tools/lint.sh FILE.cc …     only clang-tidy, and only on these files
set -euo pipefail
cd "$(dirname "$0")/.."

build=build/lint
jobs=${JOBS:-$(nproc)}
failed=()

say() { printf '%-18s %s\n' "$1" "$2"; }

step() { # NAME COMMAND…: runs one check and remembers whether it failed
  local name=$1 status from=$SECONDS
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
    say "$name" "ok, $((SECONDS - from)) s"
  else
    say "$name" "FAILED (build/lint-$name.log)"
    cat "build/lint-$name.log"
    failed+=("$name")
  fi
}

ours() { git ls-files -- '*.h' '*.cc'; }

check_format() { ours | xargs clang-format-14 --dry-run -Werror; }

check_shell() {
  git ls-files -- '*.sh' .ci/run | xargs shellcheck
}

# The compilation database and the generated headers. clang 14 reads the headers
# of PyTorch 2.13 as C++20, Debian's it cannot: without that PyTorch the train
# room is left out.
configure() { # FOLDER PYTHON FLAG…
  local torch=-DMUSTER_WITH_TORCH=OFF prefix
  if [ -n "$2" ]; then
    prefix=$("$2" -c 'import torch; print(torch.utils.cmake_prefix_path)')
    torch=-DCMAKE_PREFIX_PATH=$prefix
  fi
  # clang-tidy reads clang's flags.
  CC=clang-14 CXX=clang++-14 cmake --preset dev -B "$1" -DMUSTER_PCH=OFF \
    "$torch" "${@:3}"
  cmake --build "$1" -j "$jobs" --target muster_generated
}

check_headers() { cmake --build "$build-all" -j "$jobs" --target muster_headers; }

tidy() { # BUILD FLAG… < FILES
  xargs -P "$jobs" -n 1 clang-tidy-14 -p "$1" --quiet "${@:2}"
}

tidy_some() { tools/tidy_files.py "$build" | tidy "$build"; }

# Files that share headers are read together: a fifth of the time. A generated
# table declares what then is seen already.
tidy_all() {
  tools/tidy_files.py "$build-all" --all |
    tidy "$build-all" --checks=-bugprone-suspicious-include,-readability-redundant-declaration
}

mkdir -p build
if [ $# -gt 0 ] && [ "$1" != --all ]; then
  printf '%s\n' "$@" | tidy "$build"
  exit
fi
step format check_format
step layers python3 tools/layers.py
step words tools/words.py
step shellcheck check_shell
step docs tools/docs.sh --check
if [ "${1:-}" = --all ]; then
  python=${MUSTER_TORCH_PYTHON:-$(tools/python_env.sh torch torch==2.13.0 numpy)}
  step configure configure "$build-all" "$python" \
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=40
  step headers check_headers
  step clang-tidy tidy_all
else
  step configure configure "$build" "${MUSTER_TORCH_PYTHON:-}"
  step clang-tidy tidy_some
  grep '^clang-tidy:' build/lint-clang-tidy.log || true
fi

if [ ${#failed[@]} -gt 0 ]; then
  echo "lint: failed: ${failed[*]}" >&2
  exit 1
fi
