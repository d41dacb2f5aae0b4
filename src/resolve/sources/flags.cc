// SPDX-License-Identifier: Apache-2.0
// -n N, --hosts a:port,b:port, --cluster FILE; --rank R with the latter two.
#include "base/json.h"
#include "base/text.h"
#include "cluster/cluster_json.h"
#include "resolve/formats/address_list.h"
#include "resolve/self.h"
#include "resolve/source.h"
#include "wire/progress_page.h"

namespace muster::resolve::flags {
namespace {

Match Speak(const Request& request, const sys::Host&) {
  const bool speaks = request.processes || request.hosts || request.cluster;
  return speaks ? Speaks() : Silent("-n, --hosts and --cluster are not given");
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

Result<Cluster> FromHosts(const Request& request, const sys::Host& host) {
  MUSTER_ASSIGN(Cluster cluster,
                ParseAddressList(*request.hosts, "flag --hosts"));
  MUSTER_ASSIGN(cluster.self, FindSelf(cluster, request, host));
  return cluster;
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
  const int given = (request.processes ? 1 : 0) + (request.hosts ? 1 : 0) +
                    (request.cluster ? 1 : 0);
  if (given > 1) {
    return Error(Cause::kUsageInvalid,
                 "-n, --hosts and --cluster are mutually exclusive: -n starts "
                 "all ranks on this host, the others list hosts");
  }
  if (request.processes && request.rank) {
    return Error(
        Cause::kUsageInvalid,
        "--rank is not valid with -n, which starts all ranks on this host");
  }
  Claim claim{.source = "flags"};
  if (request.processes) {
    MUSTER_ASSIGN(claim.cluster, OnThisHost(*request.processes));
  } else if (request.hosts) {
    MUSTER_ASSIGN(claim.cluster, FromHosts(request, host));
  } else {
    MUSTER_ASSIGN(claim.cluster, FromFile(request, host));
  }
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{.name = "flags",
                               .precedence = 100,
                               .scope = Scope::kProcess,
                               .doc = "-n, --hosts, --cluster and --rank",
                               .reads = "the command line, a cluster file",
                               .match = Speak,
                               .read = Read};

}  // namespace muster::resolve::flags
