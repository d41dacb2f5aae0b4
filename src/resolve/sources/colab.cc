// SPDX-License-Identifier: Apache-2.0
// Colab: until 2024 a remote TPU behind COLAB_TPU_ADDR, since then the TPU is
// this machine's own.
#include "base/text.h"
#include "resolve/grammar/endpoint.h"
#include "resolve/local_tpu.h"
#include "resolve/source.h"
#include "resolve/tensorflow.h"
#include "resolve/variables.h"

namespace muster::resolve::colab {
namespace {

bool IsColab(const sys::Env& env) {
  return IsSet(env, "COLAB_RELEASE_TAG") || IsSet(env, "COLAB_TPU_ADDR") ||
         IsSet(env, "COLAB_GPU");
}

Match Speak(const Request&, const sys::Host& host) {
  const sys::Env& env = host.env;
  if (!IsColab(env)) {
    return Silent(
        "no variable of Colab (COLAB_RELEASE_TAG, COLAB_TPU_ADDR) is "
        "set");
  }
  if (IsSet(env, "COLAB_TPU_ADDR") && IsSet(env, "KAGGLE_KERNEL_RUN_TYPE")) {
    return Suspicious(
        "COLAB_TPU_ADDR is set on Kaggle, which never sets it: it was copied "
        "from a Colab notebook, remove it and use the local TPU");
  }
  return Speaks();
}

Result<Claim> Read(const Request& request, const sys::Host& host) {
  Claim claim{.source = "colab"};
  const Text address = TextVariable(host.env, "COLAB_TPU_ADDR");
  if (!address) {
    const LocalTpu tpu = FindLocalTpu(host);
    claim.num_processes = Sourced<int>{1, "a Colab runtime is one machine"};
    claim.process_id = Sourced<int>{0, "a Colab runtime is one machine"};
    claim.chips_per_host = Sourced<int>{tpu.chips, tpu.source};
    claim.master = Sourced<std::string>{"", "the TPU is local"};
    claim.tasks.emplace();
    if (tpu.chips > 0) {
      claim.more["tpu"] = std::string("local");
    }
    return claim;
  }
  auto endpoints = ParseTpuEndpoints(address->value);
  if (!endpoints) {
    return std::move(endpoints).error().While("while reading COLAB_TPU_ADDR");
  }
  claim.hosts = *endpoints;
  claim.tasks.emplace().jobs["worker"] = ToTasks(*endpoints);
  claim.rpc_layer = Sourced<std::string>{"grpc", "default of TPUs"};
  MUSTER_TRY(ApplyTensorflow(request, {.default_type = "worker"}, claim));
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "colab",
    .precedence = 910,
    .doc = "a Colab runtime",
    .reads = "COLAB_RELEASE_TAG, COLAB_TPU_ADDR, COLAB_GPU, device files",
    .ports = "8470",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::colab
