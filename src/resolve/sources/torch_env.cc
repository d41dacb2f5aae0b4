// SPDX-License-Identifier: Apache-2.0
// RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT, as torchrun and
// the Kubernetes operators set them.
#include "base/text.h"
#include "cluster/members.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::torch_env {
namespace {

constexpr const char* kNames[] = {"RANK", "WORLD_SIZE", "MASTER_ADDR",
                                  "MASTER_PORT", "LOCAL_RANK"};

std::string Match(const Request&, const sys::Host& host) {
  for (const char* name : kNames) {
    if (IsSet(host.env, name)) {
      return "";
    }
  }
  return "none of RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT "
         "is set";
}

Error Partly(const sys::Host& host) {
  Variables variables{
      .names = {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"},
      .setters =
          "a launcher sets all of them (torchrun, a Kubernetes "
          "operator, `muster run`); start through one, or unset what is "
          "left over"};
  if (IsSet(host.env, "LOCAL_RANK")) {
    variables.names.emplace_back("LOCAL_RANK");
  }
  return PartlySet(variables, host);
}

Error Outside(const std::string& name, int rank, int size) {
  return Error(Cause::kRankWorldMismatch,
               name + "=" + std::to_string(rank) +
                   " is outside of WORLD_SIZE=" + std::to_string(size) +
                   ": ranks are 0 to " + std::to_string(size - 1));
}

// LOCAL_RANK is no part of the claim, but must be possible beside RANK.
Status CheckLocalRank(const sys::Env& env, const Sourced<int>& self, int size) {
  if (!IsSet(env, "LOCAL_RANK")) {
    return Ok();
  }
  MUSTER_ASSIGN(const int local, RankVariable(env, "LOCAL_RANK"));
  if (local >= size) {
    return Outside("LOCAL_RANK", local, size);
  }
  if (local > self.value) {
    return Error(Cause::kRankWorldMismatch,
                 "LOCAL_RANK=" + std::to_string(local) + " is above RANK=" +
                     std::to_string(self.value) + " (" + self.source +
                     "): the ranks of a host are among those of the cluster");
  }
  return Ok();
}

Result<Address> Master(const sys::Env& env) {
  const std::string host = *env.Get("MASTER_ADDR");
  const std::string port = *env.Get("MASTER_PORT");
  const bool bare_ipv6 =
      host.find(':') != std::string::npos && !host.starts_with('[');
  auto address =
      Address::Parse((bare_ipv6 ? "[" + host + "]" : host) + ":" + port);
  if (!address) {
    return Error(Cause::kClusterSpecInvalid,
                 "MASTER_ADDR and MASTER_PORT: " + address.error().message());
  }
  return address;
}

// LOCAL_WORLD_SIZE below WORLD_SIZE: there is another host, which a loopback
// address does not reach.
Status CheckReachable(const sys::Host& host, const Address& master, int size) {
  if (!master.IsLoopback() || !IsSet(host.env, "LOCAL_WORLD_SIZE")) {
    return Ok();
  }
  MUSTER_ASSIGN(const int local, SizeVariable(host.env, "LOCAL_WORLD_SIZE"));
  if (local >= size) {
    return Ok();
  }
  return Error(Cause::kNetLoopbackName,
               "MASTER_ADDR is `" + master.host + "`, but only " +
                   std::to_string(local) + " of " + std::to_string(size) +
                   " processes are on this host (LOCAL_WORLD_SIZE): the others "
                   "would reach themselves")
      .With(Observed("address.loopback", {{"address", master.host}}, host));
}

Result<Claim> Read(const Request&, const sys::Host& host) {
  const sys::Env& env = host.env;
  if (!IsSet(env, "WORLD_SIZE")) {
    return Partly(host);
  }
  MUSTER_ASSIGN(const int size, SizeVariable(env, "WORLD_SIZE"));
  Claim claim{.source = "torch", .cluster = {}, .only_trainers = true};
  claim.cluster = Unplaced({size, "env WORLD_SIZE"});
  Sourced<int> self{0, "env WORLD_SIZE is 1"};
  if (IsSet(env, "RANK")) {
    MUSTER_ASSIGN(self.value, RankVariable(env, "RANK"));
    self.source = "env RANK";
  } else if (size > 1) {
    return Partly(host);
  }
  if (self.value >= size) {
    return Outside("RANK", self.value, size)
        .With(Observed(
            "rank.outside",
            {{"rank", std::int64_t{self.value}}, {"size", std::int64_t{size}}},
            host));
  }
  MUSTER_TRY(CheckLocalRank(env, self, size));
  claim.cluster.self = self;
  const bool address = IsSet(env, "MASTER_ADDR");
  const bool port = IsSet(env, "MASTER_PORT");
  if (size > 1 && !(address && port)) {
    return Partly(host);
  }
  if (address && port) {
    MUSTER_ASSIGN(auto master, Master(env));
    MUSTER_TRY(CheckReachable(host, master, size));
    claim.cluster.coordinator =
        Sourced<Address>{std::move(master), "env MASTER_ADDR and MASTER_PORT"};
    claim.coordinator_told = true;
  }
  MUSTER_TRY(CheckMembers(claim.cluster));
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "torch", .precedence = 300, .match = Match, .read = Read};

}  // namespace muster::resolve::torch_env
