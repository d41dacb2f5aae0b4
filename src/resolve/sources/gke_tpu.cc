// SPDX-License-Identifier: Apache-2.0
// Variables that GKE, LeaderWorkerSet and KubeRay put into pods with TPUs. No
// network is asked.
#include "accelerator/local_devices.h"
#include "base/text.h"
#include "resolve/platform/tpu_slice.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::gke_tpu {
namespace {

constexpr const char* kAddresses = "TPU_PROCESS_ADDRESSES";
constexpr const char* kHostnames = "TPU_WORKER_HOSTNAMES";
constexpr const char* kWorkerId = "TPU_WORKER_ID";
constexpr const char* kProcessId = "CLOUD_TPU_TASK_ID";

Match Speak(const Request&, const sys::Host& host) {
  const Text list = FirstText(host.env, {kAddresses, kHostnames});
  const Text worker = TextVariable(host.env, kWorkerId);
  if (!list && worker && worker->value != "0") {
    return Suspicious(
        Cause::kLaunchEnvMissing,
        "TPU_WORKER_ID is `" + Printable(worker->value) + "`, but neither " +
            kHostnames + " nor " + kAddresses +
            " is set: GKE sets the worker ID and the list together, so a "
            "notebook cell or a shell probably set this one");
  }
  if (!list) {
    return Silent(std::string("neither ") + kHostnames + " nor " + kAddresses +
                  " is set");
  }
  return IsLocalWord(list->value) ? Silent(list->source.substr(4) +
                                           " is `local`, which means this host")
                                  : Speaks();
}

Error NoWorkerId(const sys::Host& host) {
  return PartlySet(
      {.names = {kHostnames, kAddresses, kWorkerId},
       .setters = "GKE sets TPU_WORKER_ID and TPU_WORKER_HOSTNAMES only for "
                  "pods of an Indexed Job with google.com/tpu, a subdomain of "
                  "a headless service and parallelism above 1; LeaderWorkerSet "
                  "and KubeRay set them through webhooks"},
      host);
}

// torch_xla numbers the processes of all hosts apart from the hosts.
Text OwnId(const sys::Env& env, const Text& list) {
  return list->source == std::string("env ") + kAddresses
             ? FirstText(env, {kProcessId, kWorkerId})
             : FirstText(env, {kWorkerId, kProcessId});
}

Result<Claim> Read(const Request& request, const sys::Host& host) {
  const sys::Env& env = host.env;
  const Text list = FirstText(env, {kAddresses, kHostnames});
  const Text own = list ? OwnId(env, list) : Text();
  if (!own) {
    return NoWorkerId(host);
  }
  TpuSlice slice{.hosts_source = list->source};
  for (const std::string& one : Split(list->value, ',')) {
    if (Trim(one).empty()) {
      return Error(Cause::kClusterSpecInvalid,
                   list->source + ", entry " +
                       std::to_string(slice.hosts.size() + 1) + ", is empty");
    }
    slice.hosts.emplace_back(Trim(one));
  }
  MUSTER_ASSIGN(const int worker, RankVariable(env, own->source.substr(4)));
  slice.worker = {worker, own->source};
  Claim claim{.source = "gke-tpu"};
  MUSTER_TRY(FillSlices(slice, {}, request, env, claim));
  claim.accelerator_type = TextVariable(env, "TPU_ACCELERATOR_TYPE");
  if (claim.accelerator_type &&
      list->source == std::string("env ") + kHostnames) {
    RemarkHostCount(claim.accelerator_type->value, claim,
                    accelerator::FindLocalTpu(host).chips);
  }
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "gke-tpu",
    .precedence = 700,
    .starts_agents = true,
    .doc = "TPU pods on GKE, LeaderWorkerSet and KubeRay",
    .reads =
        "TPU_PROCESS_ADDRESSES, TPU_WORKER_HOSTNAMES, TPU_WORKER_ID, "
        "CLOUD_TPU_TASK_ID, TPU_ACCELERATOR_TYPE, "
        "MEGASCALE_COORDINATOR_ADDRESS, "
        "MEGASCALE_NUM_SLICES, MEGASCALE_SLICE_ID, JAX_COORDINATOR_PORT",
    .ports = "jax 8482, torch_xla 8476",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::gke_tpu
