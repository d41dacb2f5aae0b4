// SPDX-License-Identifier: Apache-2.0
#include "validate.h"

#include <set>

#include "base/text.h"
#include "resolve/variables.h"

namespace muster::conformance {
namespace {

using resolve::FirstNumber;
using resolve::NumberVariable;

template <typename Facts>
std::set<std::string> Values(const std::vector<Facts>& all,
                             std::string Facts::*field) {
  std::set<std::string> values;
  for (const Facts& one : all) {
    values.insert(one.*field);
  }
  return values;
}

Status RequireOne(const std::set<std::string>& values, Cause cause,
                  const std::string& what) {
  if (values.size() < 2) {
    return Ok();
  }
  const std::vector<std::string> list(values.begin(), values.end());
  return Error(cause, what + ": " + Printable(Join(list, ", ")));
}

}  // namespace

Status ValidateTpuHosts(const std::vector<HostFacts>& hosts,
                        const std::vector<WorkerFacts>& workers,
                        bool check_machine_type) {
  if (hosts.empty() || workers.empty()) {
    return Error(
        Cause::kClusterSpecInvalid,
        std::string("no ") + (hosts.empty() ? "hosts" : "TPU workers"));
  }
  if (hosts.size() != workers.size()) {
    return Error(Cause::kClusterSpecInvalid,
                 Count(std::ssize(hosts), "host") + " and " +
                     Count(std::ssize(workers), "TPU worker") +
                     ": each host needs one");
  }
  auto zones = Values(hosts, &HostFacts::zone);
  zones.merge(Values(workers, &WorkerFacts::zone));
  MUSTER_TRY(RequireOne(zones, Cause::kClusterSpecInvalid,
                        "hosts and TPU workers are in different zones"));
  if (check_machine_type) {
    MUSTER_TRY(RequireOne(Values(hosts, &HostFacts::machine_type),
                          Cause::kClusterSpecInvalid,
                          "the hosts have different machine types"));
  }
  MUSTER_TRY(RequireOne(Values(workers, &WorkerFacts::accelerator_type),
                        Cause::kClusterSpecInvalid,
                        "the TPU workers have different accelerator types"));
  return RequireOne(Values(workers, &WorkerFacts::runtime_version),
                    Cause::kVerPeerMismatch,
                    "the TPU workers run different runtime versions");
}

Status ValidateSlurm(const Asked& asked, const sys::Env& env) {
  const std::string name = env.Get("SLURM_JOB_NAME").value_or("");
  if (name == "bash" || name == "interactive") {
    return Ok();
  }
  MUSTER_ASSIGN(const auto tasks, NumberVariable(env, "SLURM_NTASKS_PER_NODE"));
  if (tasks && asked.num_devices && tasks->value != *asked.num_devices) {
    return Error(Cause::kRankWorldMismatch,
                 "the program asks for " + Count(*asked.num_devices, "device") +
                     " on each node, SLURM_NTASKS_PER_NODE is " +
                     std::to_string(tasks->value));
  }
  MUSTER_ASSIGN(const auto nodes,
                FirstNumber(env, {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}));
  if (nodes && asked.num_nodes && nodes->value != *asked.num_nodes) {
    return Error(Cause::kRankWorldMismatch,
                 "the program asks for " + Count(*asked.num_nodes, "node") +
                     ", SLURM_NNODES is " + std::to_string(nodes->value));
  }
  return Ok();
}

Status ValidateTorchrun(const Asked& asked, const sys::Env& env) {
  MUSTER_ASSIGN(const auto world, NumberVariable(env, "WORLD_SIZE"));
  if (!world || !asked.num_devices || !asked.num_nodes) {
    return Ok();
  }
  if (*asked.num_devices * *asked.num_nodes != world->value) {
    return Error(Cause::kRankWorldMismatch,
                 "the program asks for " + Count(*asked.num_devices, "device") +
                     " on each of " + Count(*asked.num_nodes, "node") +
                     ", WORLD_SIZE is " + std::to_string(world->value));
  }
  return Ok();
}

}  // namespace muster::conformance
