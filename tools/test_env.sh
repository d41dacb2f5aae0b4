#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What tests need that is not Debian's: Python environments under build/.
#   tools/test_env.sh interop|pjrt|cloud|notebook    makes one of them
#   tools/test_env.sh run COMMAND…   makes all, then runs COMMAND with the
#                                    variables that name them
set -euo pipefail
cd "$(dirname "$0")/.."

# The programs of others that ours are tried with, and the newest libtorch.
interop() {
  tools/python_env.sh interop torch==2.13.0 numpy 'tensorflow-cpu==2.21.*' \
    tensorboard safetensors jax==0.8.2 jaxlib==0.8.2 requests \
    google-api-python-client==2.202.0 oauth2client==4.1.3
}

# The compiler of TPUs, and the header that its interface is declared in. Apart
# from the others: JAX beside libtpu would look for TPUs.
pjrt() {
  tools/python_env.sh pjrt libtpu==0.0.52 xla-cpu-pjrt==0.0.1
}

# Google's clients of the Cloud TPU API.
cloud() {
  tools/python_env.sh cloud google-cloud-tpu==1.28.0 google-auth==2.62.2 \
    requests==2.34.2
}

# What shows the Python package in a notebook, and what checks its types.
notebook() {
  tools/python_env.sh notebook ipython==9.18.1 mypy==1.19.1
}

case ${1:-} in
  interop | pjrt | cloud | notebook) "$1" ;;
  run)
    MUSTER_INTEROP_PYTHON=$(interop)
    MUSTER_CLOUD_PYTHON=$(cloud)
    MUSTER_NOTEBOOK_PYTHON=$(notebook)
    packages=$(echo "$(dirname "$(pjrt)")"/../lib/python3*/site-packages)
    export MUSTER_INTEROP_PYTHON MUSTER_CLOUD_PYTHON MUSTER_NOTEBOOK_PYTHON
    export MUSTER_TORCH_PYTHON=$MUSTER_INTEROP_PYTHON
    export MUSTER_LIBTPU=$packages/libtpu/libtpu.so
    export MUSTER_PJRT_CPU=$packages/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so
    "${@:2}"
    ;;
  *)
    sed -n '3,7s/^# //p' "$0" >&2
    exit 2
    ;;
esac
