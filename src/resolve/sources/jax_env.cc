// SPDX-License-Identifier: Apache-2.0
// What jax.distributed.initialize is told by variables: JAX's own, those of
// Kubernetes operators, of MaxText and of axlearn.
#include <algorithm>

#include "base/text.h"
#include "resolve/formats/endpoint.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::jax_env {
namespace {

const std::vector<std::string>& Addresses() {
  static const std::vector<std::string> names{
      "JAX_COORDINATOR_ADDRESS", "COORDINATOR_ADDRESS", "JAX_COORDINATOR_IP",
      "DISTRIBUTED_COORDINATOR"};
  return names;
}

bool IsMaxTextOnCpu(const sys::Env& env) {
  return IsSet(env, "JOB_INDEX") && IsSet(env, "PROCESSES_IN_JOB");
}

Match Speak(const Request&, const sys::Host& host) {
  const bool set =
      std::any_of(Addresses().begin(), Addresses().end(),
                  [&](const auto& name) { return IsSet(host.env, name); });
  if (set) {
    return Speaks();
  }
  const Text rank = FirstText(
      host.env, {"JAX_NUM_PROCESSES", "JAX_PROCESS_COUNT", "JAX_PROCESS_ID"});
  const std::string none = "none of " + List(Addresses()) + " is set";
  return rank ? Suspicious(Cause::kLaunchEnvMissing,
                           rank->source.substr(4) + " is `" +
                               Printable(rank->value) + "`, but " + none +
                               ": without a coordinator it has no meaning")
              : Silent(none);
}

Status TakePort(const sys::Env& env, const HostAndPort& told, Claim& claim) {
  if (told.port) {
    if (*told.port == 0) {
      return Error(
          Cause::kClusterSpecInvalid,
          claim.coordinator_host->source + " has port 0, expected 1 to 65535");
    }
    claim.coordinator_port =
        Sourced<int>{*told.port, claim.coordinator_host->source};
    return Ok();
  }
  for (const char* name : {"JAX_COORDINATOR_PORT", "COORDINATOR_PORT"}) {
    MUSTER_ASSIGN(claim.coordinator_port, PortVariable(env, name));
    if (claim.coordinator_port) {
      return Ok();
    }
  }
  if (IsMaxTextOnCpu(env)) {
    claim.coordinator_port = Sourced<int>{1234, "default of MaxText on CPUs"};
    return Ok();
  }
  return Error(Cause::kClusterSpecInvalid,
               "the coordinator " + claim.coordinator_host->value + " (" +
                   claim.coordinator_host->source +
                   ") has no port: use HOST:PORT, or set JAX_COORDINATOR_PORT");
}

Status TakeCoordinator(const sys::Env& env, Claim& claim) {
  const Text address = FirstText(env, Addresses());
  if (!address) {
    return Error(
        Cause::kLaunchEnvMissing,
        "the coordinator is unknown: pass coordinator_address, or set one of " +
            List(Addresses()));
  }
  auto told = SplitHostPort(address->value);
  if (!told) {
    return std::move(told).error().While("while reading " + address->source);
  }
  claim.coordinator_host = Sourced<std::string>{told->host, address->source};
  return TakePort(env, *told, claim);
}

Status TakeRanks(const sys::Env& env, Claim& claim) {
  MUSTER_ASSIGN(claim.num_processes,
                FirstNumber(env,
                            {"JAX_NUM_PROCESSES", "JAX_PROCESS_COUNT",
                             "NUM_PROCESSES", "NNODES"},
                            1));
  if (IsMaxTextOnCpu(env)) {
    MUSTER_ASSIGN(const int job, RankVariable(env, "JOB_INDEX"));
    MUSTER_ASSIGN(const int size, SizeVariable(env, "PROCESSES_IN_JOB"));
    MUSTER_ASSIGN(const auto index,
                  NumberVariable(env, "JOB_COMPLETION_INDEX"));
    claim.process_id = Sourced<int>{job * size + (index ? index->value : 0),
                                    "JOB_INDEX times PROCESSES_IN_JOB plus "
                                    "JOB_COMPLETION_INDEX"};
  } else {
    MUSTER_ASSIGN(
        claim.process_id,
        FirstNumber(env, {"JAX_PROCESS_ID", "PROCESS_ID", "NODE_RANK"}));
  }
  if (!claim.num_processes) {
    return Error(Cause::kLaunchEnvMissing,
                 "the number of processes is unknown: pass num_processes, or "
                 "set JAX_NUM_PROCESSES or NUM_PROCESSES");
  }
  if (!claim.process_id) {
    return Error(Cause::kLaunchEnvMissing,
                 "the process ID is unknown: pass process_id, or set "
                 "JAX_PROCESS_ID or PROCESS_ID");
  }
  return CheckNumbers(claim);
}

// "0,1" as text of whole numbers; empty when one of them is none (a UUID).
std::string DeviceIds(const sys::Env& env) {
  std::vector<std::string> names{"JAX_LOCAL_DEVICE_IDS"};
  if (IsSet(env, "JAX_COORDINATOR_IP")) {
    names.insert(names.end(), {"CUDA_VISIBLE_DEVICES", "SLURM_STEP_GPUS"});
  }
  const Text text = FirstText(env, names);
  if (!text) {
    return "";
  }
  std::vector<std::string> ids;
  for (const std::string& part : Split(text->value, ',')) {
    const auto id = ParseInt(Trim(part));
    if (!id || *id < 0) {
      return "";
    }
    ids.push_back(std::to_string(*id));
  }
  return Join(ids, ",");
}

// The coordinator alone, as JAX takes it beside the ranks of another source.
bool TellsNoRanks(const Request& request, const sys::Env& env) {
  return request.source.empty() && !IsMaxTextOnCpu(env) &&
         !FirstText(env,
                    {"JAX_NUM_PROCESSES", "JAX_PROCESS_COUNT", "NUM_PROCESSES",
                     "NNODES", "JAX_PROCESS_ID", "PROCESS_ID", "NODE_RANK"});
}

Result<Claim> Read(const Request& request, const sys::Host& host) {
  const sys::Env& env = host.env;
  Claim claim{.source = "jax-env"};
  if (TellsNoRanks(request, env)) {
    MUSTER_TRY(TakeCoordinator(env, claim));
    claim.nothing = claim.coordinator_host->source +
                    " sets the coordinator, but neither JAX_NUM_PROCESSES and "
                    "JAX_PROCESS_ID nor another source sets the ranks";
    return claim;
  }
  MUSTER_TRY(TakeRanks(env, claim));
  MUSTER_TRY(TakeCoordinator(env, claim));
  const Text bind = TextVariable(env, "JAX_COORDINATOR_BIND_ADDRESS");
  claim.more["coordinator_bind_address"] =
      bind ? bind->value
           : "[::]:" + std::to_string(claim.coordinator_port->value);
  if (const std::string ids = DeviceIds(env); !ids.empty()) {
    claim.more["local_device_ids"] = ids;
  }
  if (auto part = TextVariable(env, "JAX_PARTITION_INDEX")) {
    claim.more["partition_index"] = part->value;
  }
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "jax-env",
    .precedence = 600,
    .scope = Scope::kProcess,
    .may_be_left_over = true,
    .doc = "variables of JAX, its operators, MaxText and axlearn",
    .reads =
        "JAX_COORDINATOR_ADDRESS, JAX_NUM_PROCESSES, JAX_PROCESS_ID, "
        "JAX_PROCESS_COUNT, JAX_COORDINATOR_PORT, "
        "JAX_COORDINATOR_BIND_ADDRESS, JAX_LOCAL_DEVICE_IDS, "
        "JAX_PARTITION_INDEX, COORDINATOR_ADDRESS, COORDINATOR_PORT, "
        "NUM_PROCESSES, PROCESS_ID, JAX_COORDINATOR_IP, NNODES, "
        "NODE_RANK, JOB_INDEX, PROCESSES_IN_JOB, JOB_COMPLETION_INDEX, "
        "DISTRIBUTED_COORDINATOR",
    .ports = "MaxText on CPUs 1234",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::jax_env
