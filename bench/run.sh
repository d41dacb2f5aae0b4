#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds what is measured and makes the Python environments, then measures, on a
# quiet machine: `make bench [ROUNDS=N] [BENCH_ARGS="--only NAME"]`.
#   bench/run.sh [--rounds N] [--only NAME] [--output json]
set -euo pipefail
cd "$(dirname "$0")/.."

echo "bench: building the programs and the Python environments" >&2
python=$(tools/python_env.sh torch torch==2.13.0 numpy)
# Without it tpu_list.py says what it does not measure.
MUSTER_CLOUD_PYTHON=$(tools/python_env.sh cloud google-cloud-tpu==1.28.0 \
  google-auth==2.62.2 requests==2.34.2) || MUSTER_CLOUD_PYTHON=
export MUSTER_CLOUD_PYTHON
cmake --build --preset release -j "${JOBS:-$(nproc)}" \
  --target muster train_bench resolve_bench >&2
exec "$python" bench/bench.py "$@"
