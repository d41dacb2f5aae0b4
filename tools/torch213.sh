#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the train room against PyTorch 2.13 from PyPI, in a build folder of its
# own. $MUSTER_TORCH_PYTHON names a Python that has that torch; without it one is
# made.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${MUSTER_TORCH_PYTHON:-$(tools/python_env.sh torch torch==2.13.0 numpy)}
prefix=$("$python" -c 'import torch; print(torch.utils.cmake_prefix_path)')
cmake --preset torch213 "-DCMAKE_PREFIX_PATH=$prefix" >build/torch213.log 2>&1 ||
  { cat build/torch213.log; exit 1; }
cmake --build --preset torch213 -j "${JOBS:-$(nproc)}"
