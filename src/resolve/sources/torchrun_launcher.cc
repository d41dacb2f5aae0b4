// SPDX-License-Identifier: Apache-2.0
// torch's launcher on one node before it starts processes: PET_* variables, as
// operators set them, and arguments of the same names.
#include <map>

#include "base/text.h"
#include "resolve/grammar/endpoint.h"
#include "resolve/grammar/key_values.h"
#include "resolve/grammar/torch_url.h"
#include "resolve/local_tpu.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::torchrun_launcher {
namespace {

Match Speak(const Request&, const sys::Host& host) {
  return IsSet(host.env, "PET_NNODES") || IsSet(host.env, "PET_NODE_RANK") ||
                 IsSet(host.env, "PET_RDZV_ENDPOINT")
             ? Speaks()
             : Silent("PET_NNODES is not set");
}

Result<int> Processes(const std::string& text, const sys::Host& host) {
  if (const auto number = ParseInt(Trim(text))) {
    if (*number >= 1 && *number <= 65536) {
      return static_cast<int>(*number);
    }
  }
  const int gpus = CountGpus(host);
  if (text == "cpu" || (text == "auto" && gpus == 0)) {
    return host.env.Cores();
  }
  if ((text == "gpu" || text == "auto") && gpus > 0) {
    return gpus;
  }
  if (text == "gpu" || text == "xpu") {
    return Error(Cause::kDeviceMissing,
                 "nproc_per_node is `" + text + "`, but this host shows none");
  }
  return Error(Cause::kClusterSpecInvalid,
               "nproc_per_node is `" + Printable(text) +
                   "`, expected a number, auto, gpu, cpu or xpu");
}

Status TakeRendezvous(const sys::Env& env, Claim& claim) {
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
  claim.coordinator_host = TextVariable(env, "PET_MASTER_ADDR");
  MUSTER_ASSIGN(claim.coordinator_port, PortVariable(env, "PET_MASTER_PORT"));
  const Text endpoint = TextVariable(env, "PET_RDZV_ENDPOINT");
  if (endpoint) {
    MUSTER_ASSIGN(const auto split, ParseEndpoint(endpoint->value, 29400));
    claim.coordinator_host = Sourced<std::string>{split.host, endpoint->source};
    claim.coordinator_port = Sourced<int>{*split.port, endpoint->source};
    claim.more["rdzv_endpoint"] = endpoint->value;
    return Ok();
  }
  if (!claim.coordinator_host) {
    claim.coordinator_host =
        Sourced<std::string>{"127.0.0.1", "default of torch's launcher"};
  }
  if (!claim.coordinator_port) {
    claim.coordinator_port =
        Sourced<int>{kTorchPort, "default of torch's launcher"};
  }
  claim.more["rdzv_endpoint"] =
      backend == "static" ? JoinHostPort(claim.coordinator_host->value,
                                         claim.coordinator_port->value)
                          : std::string();
  return Ok();
}

Result<Claim> Read(const Request& request, const sys::Host& host) {
  const sys::Env& env = host.env;
  Claim claim{.source = "torchrun-launcher"};
  const Text nodes = TextVariable(env, "PET_NNODES");
  const std::string told = nodes ? nodes->value : "1";
  MUSTER_ASSIGN(const NodeRange range,
                ParseNodeRange(request.nnodes.value_or(told)));
  claim.more["min_nodes"] = std::int64_t{range.least};
  claim.more["max_nodes"] = std::int64_t{range.most};
  const Text per_node = TextVariable(env, "PET_NPROC_PER_NODE");
  MUSTER_ASSIGN(const int processes,
                Processes(request.nproc_per_node.value_or(
                              per_node ? per_node->value : "1"),
                          host));
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
  MUSTER_TRY(TakeRendezvous(env, claim));
  if (!request.as_peer && range.least < range.most) {
    claim.nothing = "PET_NNODES is `" + Printable(told) +
                    "`, so torchrun agrees on the nodes at " +
                    Printable(claim.coordinator_host->value) +
                    " and gives the ranks: start the program with torchrun, or "
                    "set the number of nodes";
    if (LauncherInside(env).empty()) {
      claim.remarks.push_back(Warning(Cause::kLaunchEnvMissing, claim.nothing));
    }
  }
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "torchrun-launcher",
    .precedence = 610,
    .doc = "PET_* variables of torch's launcher, one set for each node",
    .reads =
        "PET_NNODES, PET_NPROC_PER_NODE, PET_NODE_RANK, PET_MASTER_ADDR, "
        "PET_MASTER_PORT, PET_RDZV_BACKEND, PET_RDZV_ENDPOINT, "
        "PET_RDZV_ID, PET_RDZV_CONF, PET_MAX_RESTARTS",
    .ports = "29500, rendezvous 29400",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::torchrun_launcher
