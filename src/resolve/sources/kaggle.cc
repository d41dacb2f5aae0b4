// SPDX-License-Identifier: Apache-2.0
// Kaggle: the TPU is this machine's own.
#include "resolve/local_tpu.h"
#include "resolve/source.h"
#include "resolve/tpu_slice.h"
#include "resolve/variables.h"

namespace muster::resolve::kaggle {
namespace {

Match Speak(const Request&, const sys::Host& host) {
  const sys::Env& env = host.env;
  return IsSet(env, "KAGGLE_KERNEL_RUN_TYPE") || IsSet(env, "ISTPUVM") ||
                 IsLocalWord(env.Get("TPU_PROCESS_ADDRESSES").value_or(""))
             ? Speaks()
             : Silent("neither KAGGLE_KERNEL_RUN_TYPE nor ISTPUVM is set");
}

Result<Claim> Read(const Request&, const sys::Host& host) {
  Claim claim{.source = "kaggle"};
  if (!Speak({}, host).speaks) {
    return PartlySet({.names = {"ISTPUVM", "TPU_PROCESS_ADDRESSES"},
                      .setters = "Kaggle's TPU VM image sets them"},
                     host);
  }
  const std::string why = "a Kaggle session is one machine";
  const LocalTpu tpu = FindLocalTpu(host);
  claim.num_processes = Sourced<int>{1, why};
  claim.process_id = Sourced<int>{0, why};
  claim.chips_per_host = Sourced<int>{tpu.chips, tpu.source};
  if (tpu.chips > 0) {
    claim.more["tpu"] = std::string("local");
  }
  if (IsSet(host.env, "COLAB_TPU_ADDR")) {
    claim.remarks.push_back(Warning(
        Cause::kTpuModeMismatch,
        "COLAB_TPU_ADDR is set on Kaggle, where the TPU is local: it was "
        "copied from a Colab notebook"));
  }
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "kaggle",
    .precedence = 920,
    .doc = "a Kaggle session",
    .reads =
        "KAGGLE_KERNEL_RUN_TYPE, ISTPUVM, TPU_PROCESS_ADDRESSES (the word "
        "local), device files",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::kaggle
