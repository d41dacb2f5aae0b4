// SPDX-License-Identifier: Apache-2.0
// A launcher that starts the processes of one node (composer). Speaks only when
// it is asked for.
#include "accelerator/local_devices.h"
#include "base/text.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::launcher {
namespace {

Match Speak(const Request&, const sys::Host&) {
  return Speaks();
}

Error Wrong(const std::string& what) {
  return Error(Cause::kRankWorldMismatch, what);
}

Status TakeSizes(const sys::Host& host, Claim& claim) {
  const sys::Env& env = host.env;
  MUSTER_ASSIGN(claim.nproc_per_node, NumberVariable(env, "LOCAL_WORLD_SIZE"));
  if (!claim.nproc_per_node) {
    claim.nproc_per_node =
        Sourced<int>{accelerator::CountGpus(host), "GPUs of this host"};
  }
  if (claim.nproc_per_node->value == 0) {
    claim.nproc_per_node = Sourced<int>{1, "no GPU: one process"};
  }
  MUSTER_ASSIGN(claim.num_processes, NumberVariable(env, "WORLD_SIZE", 1));
  if (!claim.num_processes) {
    claim.num_processes = claim.nproc_per_node;
  }
  if (claim.num_processes->value < claim.nproc_per_node->value) {
    return Wrong("the world size " +
                 std::to_string(claim.num_processes->value) + " (" +
                 claim.num_processes->source + ") is smaller than the " +
                 std::to_string(claim.nproc_per_node->value) +
                 " processes of a node (" + claim.nproc_per_node->source + ")");
  }
  return Ok();
}

Status TakeSeveralNodes(const sys::Env& env, Claim& claim, Number base) {
  const int nproc = claim.nproc_per_node->value;
  const int world = claim.num_processes->value;
  if (!base && !claim.node_rank) {
    return Error(Cause::kLaunchEnvMissing,
                 "the run has several nodes (" + std::to_string(world) +
                     " processes, " + std::to_string(nproc) +
                     " of them here), but the rank of this node is not set: "
                     "set NODE_RANK or BASE_RANK");
  }
  if (!claim.node_rank) {
    if (world % nproc != 0 || base->value % nproc != 0) {
      return Error(
          Cause::kLaunchEnvMissing,
          "NODE_RANK is not set, and the first rank of this node " +
              std::to_string(base->value) + " (" + base->source +
              ") does not determine it: " + std::to_string(nproc) +
              " processes per node divide neither it nor the world size " +
              std::to_string(world) + " evenly");
    }
    claim.node_rank = Sourced<int>{base->value / nproc, base->source};
  }
  if (!base) {
    base =
        Sourced<int>{claim.node_rank->value * nproc, claim.node_rank->source};
  }
  claim.more["base_rank"] = std::int64_t{base->value};
  if (base->value + nproc > world) {
    return Wrong("the ranks of this node are " + std::to_string(base->value) +
                 " to " + std::to_string(base->value + nproc - 1) + " (" +
                 base->source + "), but the world size is " +
                 std::to_string(world));
  }
  claim.coordinator_host = TextVariable(env, "MASTER_ADDR");
  MUSTER_ASSIGN(claim.coordinator_port, PortVariable(env, "MASTER_PORT"));
  if (!claim.coordinator_host || !claim.coordinator_port) {
    return Error(Cause::kLaunchEnvMissing,
                 "the run has several nodes: MASTER_ADDR and MASTER_PORT must "
                 "both be set");
  }
  return Ok();
}

Status TakeOneNode(const sys::Env& env, Claim& claim, const Number& base) {
  for (const auto& [name, value] :
       {std::pair("BASE_RANK", &base),
        std::pair("NODE_RANK", static_cast<const Number*>(&claim.node_rank))}) {
    if (*value && (*value)->value != 0) {
      return Wrong(std::string(name) + " is " +
                   std::to_string((*value)->value) +
                   ", but all processes of the run are on this node");
    }
  }
  claim.more["base_rank"] = std::int64_t{0};
  claim.node_rank = Sourced<int>{0, "one node"};
  claim.coordinator_host = TextVariable(env, "MASTER_ADDR");
  if (!claim.coordinator_host) {
    claim.coordinator_host = Sourced<std::string>{"127.0.0.1", "one node"};
  }
  MUSTER_ASSIGN(claim.coordinator_port, PortVariable(env, "MASTER_PORT"));
  return Ok();
}

Result<Claim> Read(const Request&, const sys::Host& host) {
  Claim claim{.source = "launcher"};
  MUSTER_TRY(TakeSizes(host, claim));
  MUSTER_ASSIGN(claim.node_rank, NumberVariable(host.env, "NODE_RANK"));
  MUSTER_ASSIGN(const auto base, NumberVariable(host.env, "BASE_RANK"));
  if (claim.num_processes->value > claim.nproc_per_node->value) {
    MUSTER_TRY(TakeSeveralNodes(host.env, claim, base));
  } else {
    MUSTER_TRY(TakeOneNode(host.env, claim, base));
  }
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "launcher",
    .precedence = 1900,
    .on_request = true,
    .doc = "a single-node launcher (composer)",
    .reads =
        "LOCAL_WORLD_SIZE, WORLD_SIZE, NODE_RANK, BASE_RANK, "
        "MASTER_ADDR, MASTER_PORT",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::launcher
