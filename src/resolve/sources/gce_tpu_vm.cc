// SPDX-License-Identifier: Apache-2.0
// A TPU VM of Compute Engine by its metadata attributes.
#include "accelerator/local_devices.h"
#include "accelerator/tpu_type.h"
#include "base/text.h"
#include "cloud/auth/metadata.h"
#include "resolve/formats/key_values.h"
#include "resolve/platform/tpu_slice.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::gce_tpu_vm {
namespace {

constexpr const char* kWorker = "agent-worker-number";
constexpr const char* kEndpoints = "worker-network-endpoints";

Match Speak(const Request&, const sys::Host& host) {
  const cloud::Metadata metadata(host);
  if (const std::string off = metadata.SwitchedOff(); !off.empty()) {
    return Silent(off);
  }
  const auto worker = metadata.Attribute(kWorker);
  if (!worker) {
    return Silent("the metadata server is not reachable: " +
                  worker.error().message());
  }
  return *worker ? Speaks()
                 : Silent("the metadata server has no attribute " +
                          std::string(kWorker) + ": not a TPU VM");
}

Result<std::string> Require(const cloud::Metadata& metadata, const char* name) {
  MUSTER_ASSIGN(auto value, metadata.Attribute(name));
  if (!value || value->empty()) {
    return Error(Cause::kLaunchEnvMissing,
                 "the metadata server has no attribute " + std::string(name) +
                     ": not a TPU VM");
  }
  return *std::move(value);
}

Result<Claim> Read(const Request& request, const sys::Host& host) {
  const cloud::Metadata metadata(host);
  if (const std::string off = metadata.SwitchedOff(); !off.empty()) {
    return Error(Cause::kLaunchEnvMissing,
                 off +
                     ", and TPU_WORKER_HOSTNAMES with TPU_WORKER_ID are not "
                     "set");
  }
  MUSTER_ASSIGN(const auto endpoints, Require(metadata, kEndpoints));
  MUSTER_ASSIGN(const auto worker_text, Require(metadata, kWorker));
  TpuSlice slice{.hosts_source = cloud::Metadata::SourceOf(kEndpoints)};
  MUSTER_ASSIGN(slice.hosts, accelerator::ParseWorkerEndpoints(endpoints));
  const auto worker = ParseInt(worker_text);
  if (!worker || *worker < 0 || *worker > 65536) {
    return Error(Cause::kClusterSpecInvalid,
                 "the metadata attribute " + std::string(kWorker) + " is `" +
                     Printable(worker_text.substr(0, 80)) +
                     "`, which is not a worker number");
  }
  slice.worker = {static_cast<int>(*worker),
                  cloud::Metadata::SourceOf(kWorker)};
  MUSTER_ASSIGN(const auto tpu_env_text, metadata.Attribute("tpu-env"));
  const TpuEnv told = ParseTpuEnv(tpu_env_text.value_or(""));
  const auto& tpu_env = told.values;
  Claim claim{.source = "gce-tpu-vm"};
  if (!told.odd.empty()) {
    claim.remarks.push_back(Warning(
        Cause::kClusterSpecInvalid,
        "the metadata attribute tpu-env, " + told.odd.front() +
            (told.odd.size() > 1
                 ? " (and " + Count(std::ssize(told.odd) - 1, "line") + " more)"
                 : "") +
            ": its content is ignored"));
  }
  MUSTER_TRY(FillSlices(slice, tpu_env, request, host.env, claim));
  if (const auto type = tpu_env.find("ACCELERATOR_TYPE");
      type != tpu_env.end() && accelerator::ParseTpuType(type->second)) {
    claim.accelerator_type = Sourced<std::string>{
        type->second, "metadata attribute tpu-env, ACCELERATOR_TYPE"};
    RemarkHostCount(type->second, claim, accelerator::FindLocalTpu(host).chips);
  }
  if (const auto version = tpu_env.find("RUNTIME_VERSION");
      version != tpu_env.end()) {
    claim.more["runtime_version"] = version->second;
  }
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "gce-tpu-vm",
    .precedence = 1000,
    .network = true,
    .starts_agents = true,
    .doc = "a Cloud TPU VM, from its metadata",
    .reads =
        "metadata attributes agent-worker-number, "
        "worker-network-endpoints, tpu-env; MEGASCALE_* variables; "
        "GCE_METADATA_HOST, NO_GCE_CHECK, TPU_SKIP_MDS_QUERY",
    .ports = "jax 8482, torch_xla 8476",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::gce_tpu_vm
