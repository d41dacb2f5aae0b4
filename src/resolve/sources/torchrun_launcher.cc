// SPDX-License-Identifier: Apache-2.0
// torch's launcher on one node before it starts processes: PET_* variables, as
// operators set them.
#include <map>

#include "base/text.h"
#include "resolve/formats/endpoint.h"
#include "resolve/formats/key_values.h"
#include "resolve/formats/node_range.h"
#include "resolve/formats/process_count.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::torchrun_launcher {
namespace {

constexpr const char* kDefault = "default of torch's launcher";

Match Speak(const Request&, const sys::Host& host) {
  return IsSet(host.env, "PET_NNODES") || IsSet(host.env, "PET_NODE_RANK") ||
                 IsSet(host.env, "PET_RDZV_ENDPOINT")
             ? Speaks()
             : Silent("PET_NNODES is not set");
}

// Where the nodes meet without an endpoint. What is the launcher's default for
// one node would be each of several nodes' own; Kubeflow tells those in the
// variables of the processes.
Status TakeMaster(const sys::Env& env, bool several_nodes, Claim& claim) {
  claim.coordinator_host = TextVariable(env, "PET_MASTER_ADDR");
  MUSTER_ASSIGN(claim.coordinator_port, PortVariable(env, "PET_MASTER_PORT"));
  if (!claim.coordinator_host && several_nodes) {
    claim.coordinator_host = TextVariable(env, "MASTER_ADDR");
  }
  if (!claim.coordinator_port && several_nodes) {
    MUSTER_ASSIGN(claim.coordinator_port, PortVariable(env, "MASTER_PORT"));
  }
  if (!claim.coordinator_host && !several_nodes) {
    claim.coordinator_host = Sourced<std::string>{"127.0.0.1", kDefault};
  }
  if (!claim.coordinator_port) {
    claim.coordinator_port = Sourced<int>{kTorchPort, kDefault};
  }
  return Ok();
}

Status TakeRendezvous(const sys::Env& env, bool several_nodes, Claim& claim) {
  const auto text = [&](const char* name, const char* fallback) {
    const Text told = TextVariable(env, name);
    return told ? told->value : std::string(fallback);
  };
  const std::string backend = text("PET_RDZV_BACKEND", "static");
  claim.more["rdzv_backend"] = backend;
  claim.more["rdzv_id"] = text("PET_RDZV_ID", "none");
  MUSTER_ASSIGN(const auto restarts, NumberVariable(env, "PET_MAX_RESTARTS"));
  claim.more["max_restarts"] = std::int64_t{restarts ? restarts->value : 0};
  MUSTER_ASSIGN(const auto conf, ParseRdzvConf(text("PET_RDZV_CONF", "")));
  for (const auto& [key, value] : conf) {
    claim.more["rdzv_conf." + key] = value;
  }
  MUSTER_TRY(TakeMaster(env, several_nodes, claim));
  const Text endpoint = TextVariable(env, "PET_RDZV_ENDPOINT");
  if (endpoint) {
    MUSTER_ASSIGN(const auto split, ParseEndpoint(endpoint->value, 29400));
    claim.coordinator_host = Sourced<std::string>{split.host, endpoint->source};
    claim.coordinator_port = Sourced<int>{*split.port, endpoint->source};
    claim.more["rdzv_endpoint"] = endpoint->value;
    return Ok();
  }
  claim.more["rdzv_endpoint"] =
      backend == "static" && claim.coordinator_host
          ? JoinHostPort(claim.coordinator_host->value,
                         claim.coordinator_port->value)
          : std::string();
  return Ok();
}

// torchrun on each node agrees with the others on the ranks. Inside of it they
// are told, and -n 1 starts it; else this process is one of several and does
// not know which.
Result<Claim> WithoutRanks(const std::string& nodes, const Request& request,
                           const sys::Host& host, Claim claim) {
  const std::string inside = LauncherInside(host.env);
  if (!inside.empty() || request.processes) {
    claim.nothing = inside.empty()
                        ? "flag -n sets the number of processes on this node"
                        : inside +
                              " shows that a launcher started this process, "
                              "which sets the rank";
    claim.coordinator_host.reset();
    return claim;
  }
  return Error(Cause::kLaunchEnvMissing,
               "PET_NNODES is `" + Printable(nodes) +
                   "`, and the rank of this node is not set: torchrun assigns "
                   "the ranks" +
                   (claim.coordinator_host
                        ? " at " + Printable(claim.coordinator_host->value)
                        : std::string()) +
                   ", so start it with muster run -n 1 -- torchrun …, or set "
                   "PET_NNODES to one number and PET_NODE_RANK")
      .With(Observed("env.partial",
                     {{"set", "PET_NNODES=" + Printable(nodes)},
                      {"missing", std::string("PET_NODE_RANK")}},
                     host));
}

Result<Claim> Read(const Request& request, const sys::Host& host) {
  const sys::Env& env = host.env;
  Claim claim{.source = "torchrun-launcher"};
  const Text nodes = TextVariable(env, "PET_NNODES");
  const std::string told = nodes ? nodes->value : "1";
  MUSTER_ASSIGN(const NodeRange range, ParseNodeRange(told));
  claim.more["min_nodes"] = std::int64_t{range.least};
  claim.more["max_nodes"] = std::int64_t{range.most};
  const Text per_node = TextVariable(env, "PET_NPROC_PER_NODE");
  MUSTER_ASSIGN(const int processes,
                CountProcesses(per_node ? per_node->value : "1", host));
  claim.nproc_per_node =
      Sourced<int>{processes, per_node ? per_node->source : "default of torch"};
  MUSTER_ASSIGN(claim.node_rank, NumberVariable(env, "PET_NODE_RANK"));
  if (range.least == range.most) {
    claim.num_nodes =
        Sourced<int>{range.most, nodes ? nodes->source : "default of torch"};
    claim.num_processes =
        Sourced<int>{range.most * processes, "nodes times processes per node"};
    if (!claim.node_rank && range.most == 1) {
      claim.node_rank = Sourced<int>{0, "one node"};
    }
  }
  MUSTER_TRY(CheckNumbers(claim));
  const bool several = range.most > 1;
  MUSTER_TRY(TakeRendezvous(env, several, claim));
  if (several && (range.least < range.most || !claim.node_rank)) {
    return WithoutRanks(told, request, host, claim);
  }
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "torchrun-launcher",
    .precedence = 610,
    .starts_agents = true,
    .may_be_left_over = true,
    .doc = "PET_* variables of torchrun, one set for each node",
    .reads =
        "PET_NNODES, PET_NPROC_PER_NODE, PET_NODE_RANK, PET_MASTER_ADDR, "
        "PET_MASTER_PORT, PET_RDZV_BACKEND, PET_RDZV_ENDPOINT, "
        "PET_RDZV_ID, PET_RDZV_CONF, PET_MAX_RESTARTS, MASTER_ADDR, "
        "MASTER_PORT",
    .ports = "29500, rendezvous 29400",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::torchrun_launcher
