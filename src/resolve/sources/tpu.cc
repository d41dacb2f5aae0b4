// SPDX-License-Identifier: Apache-2.0
// A TPU by name or address: argument, TPU_NAME, the variables of GKE's older
// TPU nodes. Never a "default".
#include "accelerator/local_devices.h"
#include "base/text.h"
#include "resolve/formats/endpoint.h"
#include "resolve/platform/cloud_tpu.h"
#include "resolve/platform/tpu_slice.h"
#include "resolve/self.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::tpu {
namespace {

Match Speak(const Request& request, const sys::Host& host) {
  const sys::Env& env = host.env;
  if (request.cloud.tpu || IsSet(env, "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS")) {
    return Speaks();
  }
  Match asking{.speaks = true, .asks_network = true};
  if (IsSet(env, "TPU_CONFIG") && !IsSet(env, "TPU_NAME")) {
    return asking;
  }
  const Text name = TextVariable(env, "TPU_NAME");
  if (!name) {
    return Silent(
        "TPU_NAME, KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS and TPU_CONFIG are not set");
  }
  const accelerator::LocalTpu chips = accelerator::FindLocalTpu(host);
  if (IsTpuEndpoints(name->value)) {
    return Speaks();
  }
  if (chips.chips == 0) {
    return Trim(name->value) == "local" ? Speaks() : asking;
  }
  const std::string why = "TPU_NAME is `" + Printable(name->value) +
                          "`, but this host has a local TPU (" + chips.source +
                          ")";
  // Operators name the pod's TPU so, beside its workers.
  const bool of_a_pod =
      FirstText(env, {"TPU_WORKER_HOSTNAMES", "TPU_PROCESS_ADDRESSES"})
          .has_value();
  return Trim(name->value) == "local" || of_a_pod
             ? Silent(why)
             : Suspicious(Cause::kTpuModeMismatch,
                          why +
                              ": TensorFlow looks up the name in the Cloud TPU "
                              "API; a program that runs only on this host "
                              "needs TPU_NAME=local");
}

Status TakeAddresses(const TpuTarget& target, const sys::Host& host,
                     Claim& claim) {
  auto endpoints = ParseTpuEndpoints(target.text);
  if (!endpoints) {
    return std::move(endpoints).error().While("while reading " + target.source);
  }
  claim.hosts = *endpoints;
  claim.more["use_api"] = false;
  const accelerator::LocalTpu chips = accelerator::FindLocalTpu(host);
  const auto first = SplitHostPort(claim.hosts.front());
  if (chips.chips > 0 && first &&
      !IsThisHost({.host = first->host}, host.env)) {
    claim.remarks.push_back(
        Warning(Cause::kTpuModeMismatch,
                target.source + " is `" + Printable(target.text) +
                    "`, the address of another machine, although this host has "
                    "a local TPU (" +
                    chips.source + "): use tpu='local' for the local TPU"));
  }
  return Ok();
}

Status TakeNode(const TpuTarget& target, const Request& request,
                const sys::Host& host, Claim& claim) {
  MUSTER_ASSIGN(const auto place, PlaceTpu(target, request, host));
  MUSTER_ASSIGN(const auto node, GetTpuNode(place, host));
  MUSTER_TRY(CheckReady(node));
  claim.hosts = node.endpoints;
  claim.more["use_api"] = true;
  claim.more["project"] = place.project;
  claim.more["zone"] = place.zone;
  claim.more["node"] = place.Node();
  claim.more["state"] = node.state;
  claim.more["health"] = node.health;
  claim.more["runtime_version"] = node.runtime_version;
  if (!node.accelerator_type.empty()) {
    claim.accelerator_type =
        Sourced<std::string>{node.accelerator_type, "Cloud TPU API"};
    RemarkHostCount(node.accelerator_type, claim, 0);
  }
  if (!node.health.empty() && node.health != "HEALTHY") {
    claim.remarks.push_back(
        Warning(Cause::kTpuUnhealthy,
                "the TPU `" + Printable(place.name) +
                    "` is READY but not HEALTHY: " + Printable(node.health)));
  }
  return Ok();
}

Result<Claim> Read(const Request& request, const sys::Host& host) {
  MUSTER_ASSIGN(const auto target, FindTpuTarget(request, host));
  Claim claim{.source = "tpu"};
  claim.tasks.emplace();
  if (target.kind == TpuTarget::Kind::kLocal) {
    const accelerator::LocalTpu chips = accelerator::FindLocalTpu(host);
    claim.num_processes = Sourced<int>{1, target.source};
    claim.process_id = Sourced<int>{0, target.source};
    claim.chips_per_host = Sourced<int>{chips.chips, chips.source};
    claim.master = Sourced<std::string>{"", "the TPU is local"};
    claim.more["use_api"] = false;
    return claim;
  }
  if (target.kind == TpuTarget::Kind::kAddresses) {
    MUSTER_TRY(TakeAddresses(target, host, claim));
  } else {
    MUSTER_TRY(TakeNode(target, request, host, claim));
  }
  claim.tasks->jobs["worker"] = ToTasks(claim.hosts);
  claim.rpc_layer = Sourced<std::string>{"grpc", "default of TPUs"};
  claim.task_type = Sourced<std::string>{"worker", "default of tf"};
  claim.task_id = Sourced<int>{0, "default of tf"};
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "tpu",
    .precedence = 900,
    .starts_agents = true,
    .doc = "a TPU by address, or by name through the Cloud TPU API",
    .reads =
        "--tpu, KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS, TPU_NAME, TPU_CONFIG, "
        "GOOGLE_CLOUD_PROJECT, CLOUDSDK_COMPUTE_ZONE, metadata "
        "project/project-id and instance/zone, tpu.googleapis.com",
    .ports = "8470",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::tpu
