// SPDX-License-Identifier: Apache-2.0
// -n N, --hosts a:port,b:port, --cluster FILE; --rank R with the latter two.
#include "base/json.h"
#include "base/text.h"
#include "cluster/cluster_json.h"
#include "resolve/formats/address_list.h"
#include "resolve/formats/node_range.h"
#include "resolve/self.h"
#include "resolve/source.h"
#include "resolve/variables.h"
#include "wire/progress_page.h"

namespace muster::resolve::flags {
namespace {

Match Speak(const Request& request, const sys::Host&) {
  const bool speaks = request.processes || request.hosts || request.cluster ||
                      request.nodes || request.master_addr;
  return speaks ? Speaks()
                : Silent("-n, --hosts, --cluster and --nnodes are not given");
}

Result<Cluster> OnThisHost(int processes) {
  constexpr int kMaxCount = static_cast<int>(wire::kProgressSlots);
  if (processes < 1 || processes > kMaxCount) {
    return Error(Cause::kClusterSpecInvalid,
                 "-n is " + std::to_string(processes) + ": a host runs 1 to " +
                     std::to_string(kMaxCount) + " ranks");
  }
  Cluster cluster{.size = {processes, "flag -n"}, .one_host = true};
  for (int rank = 0; rank < processes; ++rank) {
    cluster.members.push_back({.rank = rank, .task = "worker", .index = rank});
  }
  return cluster;
}

Status TakeHosts(const Request& request, const sys::Host& host, Claim& claim) {
  MUSTER_ASSIGN(auto list, ParseAddressList(*request.hosts, "flag --hosts"));
  claim.cluster = std::move(list.cluster);
  claim.slots = std::move(list.slots);
  if (request.rank && (request.processes || !claim.slots.empty())) {
    return Error(Cause::kUsageInvalid,
                 "flag --rank counts ranks, but with -n and slots a host is "
                 "one of the list: use --node-rank");
  }
  MUSTER_ASSIGN(claim.cluster.self, FindSelf(claim.cluster, request, host));
  return Ok();
}

// Nodes as torchrun's flags describe them, one agent each.
Status TakeNodes(const Request& request, Claim& claim) {
  const std::string text = request.nodes.value_or("1");
  MUSTER_ASSIGN(const NodeRange range, ParseNodeRange(text));
  if (range.least != range.most) {
    return Error(Cause::kUsageInvalid,
                 "flag --nnodes is `" + Printable(text) +
                     "`, a range: the number of hosts of a run is fixed, so "
                     "use the one that is to train");
  }
  if (range.most == 1) {
    MUSTER_ASSIGN(claim.cluster, OnThisHost(request.processes.value_or(1)));
    return Ok();
  }
  if (!request.node_rank || !request.master_addr) {
    return Error(Cause::kUsageInvalid,
                 "flag --nnodes is " + text +
                     ", which requires --node-rank (0 to " +
                     std::to_string(range.most - 1) +
                     ") and --master-addr (the host of node 0) on each host");
  }
  claim.num_nodes = Sourced<int>{range.most, "flag --nnodes"};
  claim.node_rank = Sourced<int>{*request.node_rank, "flag --node-rank"};
  claim.coordinator_host =
      Sourced<std::string>{*request.master_addr, "flag --master-addr"};
  claim.coordinator_port = Sourced<int>{
      request.master_port.value_or(kTorchPort),
      request.master_port ? "flag --master-port" : "default of torch"};
  return Ok();
}

// A document that another host wrote tells that host's own rank, so the own
// addresses decide before it.
Result<Cluster> FromFile(const Request& request, const sys::Host& host) {
  const std::string what = "`" + *request.cluster + "` (flag --cluster)";
  auto text = host.fs.ReadNamed(*request.cluster, 8U << 20);
  if (!text) {
    return std::move(text)
        .error()
        .With(Observed("spec.unreadable", {{"file", *request.cluster}}, host))
        .While("while reading " + what);
  }
  MUSTER_ASSIGN(const Json json,
                ParseJson(*text, Cause::kClusterSpecInvalid, what));
  MUSTER_ASSIGN(Cluster cluster, ClusterFromJson(json, what));
  ConcludeCoordinator(cluster);
  if (cluster.one_host || cluster.members.size() == 1) {
    return cluster;
  }
  auto self = FindSelf(cluster, request, host);
  if (self) {
    cluster.self = *std::move(self);
  } else if (self.error().cause() == Cause::kRankWorldMismatch ||
             self.error().cause() == Cause::kClusterSpecInvalid ||
             !cluster.self) {
    return std::move(self).error();
  }
  return cluster;
}

Result<Claim> Read(const Request& request, const sys::Host& host) {
  const bool nodes = request.nodes || request.master_addr;
  if ((request.hosts ? 1 : 0) + (request.cluster ? 1 : 0) + (nodes ? 1 : 0) >
      1) {
    return Error(Cause::kUsageInvalid,
                 "--hosts, --cluster and --nnodes are mutually exclusive: each "
                 "describes the hosts");
  }
  if (request.cluster && request.processes) {
    return Error(Cause::kUsageInvalid,
                 "-n is not valid with --cluster, which lists every rank");
  }
  if (request.processes && request.rank && !request.hosts) {
    return Error(Cause::kUsageInvalid,
                 "--rank is not valid with -n, which starts all ranks of this "
                 "host");
  }
  Claim claim{.source = "flags"};
  if (request.hosts) {
    MUSTER_TRY(TakeHosts(request, host, claim));
  } else if (request.cluster) {
    MUSTER_ASSIGN(claim.cluster, FromFile(request, host));
  } else if (nodes) {
    MUSTER_TRY(TakeNodes(request, claim));
  } else {
    MUSTER_ASSIGN(claim.cluster, OnThisHost(*request.processes));
  }
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "flags",
    .precedence = 100,
    .scope = Scope::kProcess,
    .starts_agents = true,
    .doc = "-n, --hosts, --cluster, --nnodes, --rank",
    .reads = "the command line, a cluster file",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::flags
