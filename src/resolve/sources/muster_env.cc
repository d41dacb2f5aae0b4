// SPDX-License-Identifier: Apache-2.0
// MUSTER_HOSTS (a list as for --hosts), or MUSTER_SIZE with MUSTER_COORDINATOR;
// MUSTER_RANK tells the own rank.
#include "base/text.h"
#include "cluster/members.h"
#include "resolve/formats/address_list.h"
#include "resolve/self.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::muster_env {
namespace {

Match Speak(const Request&, const sys::Host& host) {
  const bool speaks =
      IsSet(host.env, "MUSTER_HOSTS") || IsSet(host.env, "MUSTER_SIZE");
  return speaks ? Speaks()
                : Silent("neither MUSTER_HOSTS nor MUSTER_SIZE is set");
}

Result<Claim> FromHosts(const Request& request, const sys::Host& host) {
  Claim claim{.source = "muster"};
  MUSTER_ASSIGN(auto list, ParseAddressList(*host.env.Get("MUSTER_HOSTS"),
                                            "env MUSTER_HOSTS"));
  claim.cluster = std::move(list.cluster);
  claim.slots = std::move(list.slots);
  if (IsSet(host.env, "MUSTER_SIZE")) {
    MUSTER_ASSIGN(const int size, SizeVariable(host.env, "MUSTER_SIZE"));
    if (size != claim.cluster.size.value) {
      return Error(Cause::kRankWorldMismatch,
                   "MUSTER_SIZE is " + std::to_string(size) +
                       ", but MUSTER_HOSTS lists " +
                       Count(claim.cluster.size.value, "address"));
    }
  }
  MUSTER_ASSIGN(claim.cluster.self, FindSelf(claim.cluster, request, host));
  return claim;
}

Result<Claim> FromSize(const Request& request, const sys::Host& host) {
  Claim claim{.source = "muster"};
  MUSTER_ASSIGN(const int size, SizeVariable(host.env, "MUSTER_SIZE"));
  MUSTER_ASSIGN(auto rank, GivenRank(request, host));
  Variables variables{
      .names = {"MUSTER_SIZE", "MUSTER_RANK", "MUSTER_COORDINATOR"},
      .setters = "set them on every host, or set MUSTER_HOSTS instead"};
  if (size > 1 && (!rank || !IsSet(host.env, "MUSTER_COORDINATOR"))) {
    return PartlySet(variables, host);
  }
  Cluster& cluster = claim.cluster;
  cluster = Unplaced({size, "env MUSTER_SIZE"});
  cluster.self = rank ? *rank : Sourced<int>{0, "env MUSTER_SIZE is 1"};
  if (IsSet(host.env, "MUSTER_COORDINATOR")) {
    auto address = Address::Parse(*host.env.Get("MUSTER_COORDINATOR"));
    if (!address) {
      return Error(Cause::kClusterSpecInvalid,
                   "MUSTER_COORDINATOR: " + address.error().message());
    }
    cluster.coordinator =
        Sourced<Address>{*std::move(address), "env MUSTER_COORDINATOR"};
    claim.coordinator_told = true;
  }
  MUSTER_TRY(CheckMembers(cluster));
  return claim;
}

Result<Claim> Read(const Request& request, const sys::Host& host) {
  return IsSet(host.env, "MUSTER_HOSTS") ? FromHosts(request, host)
                                         : FromSize(request, host);
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "muster",
    .precedence = 200,
    .scope = Scope::kProcess,
    .starts_agents = true,
    .doc = "muster's own variables",
    .reads = "MUSTER_HOSTS, MUSTER_SIZE, MUSTER_RANK, MUSTER_COORDINATOR",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::muster_env
