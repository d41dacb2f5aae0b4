// SPDX-License-Identifier: Apache-2.0
// Kaggle: the TPU is this machine's own.
#include "accelerator/local_devices.h"
#include "base/text.h"
#include "resolve/platform/notebook.h"
#include "resolve/platform/tpu_slice.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::kaggle {
namespace {

bool HasTpuMark(const sys::Env& env) {
  return IsSet(env, "ISTPUVM") ||
         IsLocalWord(env.Get("TPU_PROCESS_ADDRESSES").value_or(""));
}

Match Speak(const Request&, const sys::Host& host) {
  if (!KaggleMark(host).empty()) {
    return Speaks();
  }
  if (const std::string colab = ColabMark(host); !colab.empty()) {
    return Silent("this is Colab (" + colab + ")");
  }
  return HasTpuMark(host.env)
             ? Speaks()
             : Silent("neither KAGGLE_KERNEL_RUN_TYPE nor ISTPUVM is set");
}

Result<Claim> Read(const Request&, const sys::Host& host) {
  Claim claim{.source = "kaggle", .only_this_host = true};
  if (KaggleMark(host).empty() && !HasTpuMark(host.env)) {
    return PartlySet({.names = {"ISTPUVM", "TPU_PROCESS_ADDRESSES"},
                      .setters = "Kaggle's TPU VM image sets them"},
                     host);
  }
  const std::string why = "a Kaggle session is a single machine";
  const accelerator::LocalTpu tpu = accelerator::FindLocalTpu(host);
  claim.num_processes = Sourced<int>{1, why};
  claim.process_id = Sourced<int>{0, why};
  claim.chips_per_host = Sourced<int>{tpu.chips, tpu.source};
  if (tpu.chips > 0) {
    claim.more["tpu"] = std::string("local");
  }
  if (IsSet(host.env, "COLAB_TPU_ADDR")) {
    claim.remarks.push_back(Warning(
        Cause::kTpuModeMismatch,
        "COLAB_TPU_ADDR=" + Printable(*host.env.Get("COLAB_TPU_ADDR")) +
            " is set on Kaggle, but Kaggle never sets it: it was copied from a "
            "Colab notebook, remove it and use the local TPU"));
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
