#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What resolving and a process cost, and muster beside PyTorch, as ratios:
# `make bench`. Wants a quiet machine.
#   bench/run.sh [--quick] [--only NAME] [--output json]
set -euo pipefail
cd "$(dirname "$0")/.."

python=$(tools/python_env.sh torch torch==2.13.0 numpy)
cmake --build --preset release -j "${JOBS:-$(nproc)}" \
  --target muster train_bench resolve_bench >&2
missed=0
build/release/bench/resolve_bench >&2 || missed=$?
"$python" bench/process_times.py >&2 || missed=$?
MUSTER_CLOUD_PYTHON=$(tools/python_env.sh cloud google-cloud-tpu==1.28.0 \
  google-auth==2.62.2 requests==2.34.2) \
  "$python" bench/tpu_list.py >&2 || missed=$?
"$python" bench/bench.py "$@"
exit "$missed"
