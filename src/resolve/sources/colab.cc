// SPDX-License-Identifier: Apache-2.0
// Colab: until 2024 a remote TPU behind COLAB_TPU_ADDR, since then the TPU is
// this machine's own.
#include "accelerator/local_devices.h"
#include "base/text.h"
#include "resolve/formats/endpoint.h"
#include "resolve/platform/notebook.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::colab {
namespace {

constexpr const char* kAddress = "COLAB_TPU_ADDR";

Match Speak(const Request&, const sys::Host& host) {
  const std::string colab = ColabMark(host);
  const std::string kaggle = KaggleMark(host);
  // Kaggle's images are made from Colab's, and may keep its variables.
  if (!kaggle.empty()) {
    return Silent("this is Kaggle (" + kaggle + ")");
  }
  return colab.empty() && !IsSet(host.env, kAddress)
             ? Silent("none of COLAB_RELEASE_TAG, COLAB_GPU and " +
                      std::string(kAddress) + " is set")
             : Speaks();
}

// What a cell of a Kaggle notebook, or of Colab's own past, may have set.
void RemarkOtherWays(const sys::Host& host, const accelerator::LocalTpu& tpu,
                     Claim& claim) {
  for (const char* name : {"ISTPUVM", "TPU_PROCESS_ADDRESSES"}) {
    if (IsSet(host.env, name)) {
      claim.remarks.push_back(
          Warning(Cause::kTpuModeMismatch,
                  std::string(name) + "=" + Printable(*host.env.Get(name)) +
                      " is set on Colab, but only Kaggle sets it: it was "
                      "copied from a Kaggle notebook, remove it"));
    }
  }
  if (tpu.chips > 0 && IsSet(host.env, kAddress)) {
    claim.remarks.push_back(Warning(
        Cause::kTpuModeMismatch,
        std::string(kAddress) + "=" + Printable(*host.env.Get(kAddress)) +
            " is from Colab before 2024: the TPU is now in this machine (" +
            tpu.source + "), so use tpu='local' and remove the address"));
  }
}

Claim OnThisMachine(const accelerator::LocalTpu& tpu) {
  Claim claim{.source = "colab", .only_this_host = true};
  claim.num_processes = Sourced<int>{1, "a Colab runtime is a single machine"};
  claim.process_id = Sourced<int>{0, "a Colab runtime is a single machine"};
  claim.chips_per_host = Sourced<int>{tpu.chips, tpu.source};
  claim.master = Sourced<std::string>{"", "the TPU is local"};
  claim.tasks.emplace();
  if (tpu.chips > 0) {
    claim.more["tpu"] = std::string("local");
  }
  return claim;
}

Result<Claim> Read(const Request&, const sys::Host& host) {
  const accelerator::LocalTpu tpu = accelerator::FindLocalTpu(host);
  const Text address = TextVariable(host.env, kAddress);
  if (!address || tpu.chips > 0) {
    Claim local = OnThisMachine(tpu);
    RemarkOtherWays(host, tpu, local);
    return local;
  }
  Claim claim{.source = "colab"};
  RemarkOtherWays(host, tpu, claim);
  auto endpoints = ParseTpuEndpoints(address->value);
  if (!endpoints) {
    return std::move(endpoints).error().While("while reading COLAB_TPU_ADDR");
  }
  claim.hosts = *endpoints;
  claim.tasks.emplace().jobs["worker"] = ToTasks(*endpoints);
  claim.rpc_layer = Sourced<std::string>{"grpc", "default of TPUs"};
  claim.task_type = Sourced<std::string>{"worker", "default of tf"};
  claim.task_id = Sourced<int>{0, "default of tf"};
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
