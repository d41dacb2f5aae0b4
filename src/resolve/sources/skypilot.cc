// SPDX-License-Identifier: Apache-2.0
// A task of SkyPilot on several nodes.
#include "base/text.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::skypilot {
namespace {

Match Speak(const Request&, const sys::Host& host) {
  const Text any = FirstText(
      host.env,
      {"SKYPILOT_NODE_RANK", "SKYPILOT_NODE_IPS", "SKYPILOT_NUM_NODES"});
  return any ? Speaks()
             : Silent(
                   "none of SKYPILOT_NODE_RANK, SKYPILOT_NODE_IPS and "
                   "SKYPILOT_NUM_NODES is set");
}

Result<Claim> Read(const Request&, const sys::Host& host) {
  const sys::Env& env = host.env;
  Claim claim{.source = "skypilot"};
  MUSTER_TRY(RequireAll({.names = {"SKYPILOT_NODE_RANK", "SKYPILOT_NODE_IPS"},
                         .setters = "SkyPilot sets them in the commands of a "
                                    "task"},
                        host));
  for (const std::string& line : Split(*env.Get("SKYPILOT_NODE_IPS"), '\n')) {
    if (const auto ip = Trim(line); !ip.empty()) {
      claim.hosts.emplace_back(ip);
    }
  }
  MUSTER_ASSIGN(claim.node_rank, NumberVariable(env, "SKYPILOT_NODE_RANK"));
  MUSTER_ASSIGN(claim.num_nodes, NumberVariable(env, "SKYPILOT_NUM_NODES", 1));
  claim.rank_hosts = claim.hosts;  // by node
  const int listed = static_cast<int>(claim.hosts.size());
  if (!claim.num_nodes) {
    claim.num_nodes = Sourced<int>{listed, "env SKYPILOT_NODE_IPS"};
  }
  if (claim.num_nodes->value != listed || listed == 0) {
    return Error(
        Cause::kRankWorldMismatch,
        "SKYPILOT_NUM_NODES is " + std::to_string(claim.num_nodes->value) +
            ", but SKYPILOT_NODE_IPS lists " + Count(listed, "address"));
  }
  MUSTER_TRY(CheckNumbers(claim));
  MUSTER_ASSIGN(claim.nproc_per_node,
                NumberVariable(env, "SKYPILOT_NUM_GPUS_PER_NODE"));
  if (!claim.nproc_per_node || claim.nproc_per_node->value == 0) {
    claim.nproc_per_node = Sourced<int>{1, "no GPUs: one process per node"};
  }
  claim.num_processes =
      Sourced<int>{claim.num_nodes->value * claim.nproc_per_node->value,
                   "SKYPILOT_NUM_NODES times SKYPILOT_NUM_GPUS_PER_NODE"};
  claim.coordinator_host = TextVariable(env, "MASTER_ADDR");
  if (!claim.coordinator_host) {
    claim.coordinator_host = Sourced<std::string>{
        claim.hosts.front(), "first address of SKYPILOT_NODE_IPS"};
  }
  MUSTER_ASSIGN(claim.coordinator_port, MasterPort(env));
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "skypilot",
    .precedence = 420,
    .starts_agents = true,
    .doc = "a SkyPilot task",
    .reads =
        "SKYPILOT_NODE_RANK, SKYPILOT_NODE_IPS, SKYPILOT_NUM_NODES, "
        "SKYPILOT_NUM_GPUS_PER_NODE, MASTER_ADDR, MASTER_PORT",
    .ports = "29500",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::skypilot
