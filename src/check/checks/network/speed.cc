// SPDX-License-Identifier: Apache-2.0
// Latency and bandwidth of every link between two hosts, in rounds in which no
// host takes part in two of them.
#include <algorithm>

#include "base/json.h"
#include "check/check.h"
#include "check/facts/mesh_identity.h"
#include "netcheck/bandwidth/bandwidth_judge.h"
#include "netcheck/bandwidth/bandwidth_member.h"

namespace muster::check::network_speed {
namespace {

// 64 hosts have 63 rounds of up to 2 s.
constexpr std::chrono::minutes kDeadline{10};
// Members come here when network.reach is over for them, at about one time.
constexpr std::chrono::seconds kLeastWait{5};
// As network.reach.
constexpr std::chrono::seconds kLongestWait{100};

std::string DataOf(const netcheck::BandwidthOutcome& outcome,
                   std::uint64_t gradient) {
  Json data = netcheck::ToJson(outcome);
  if (const auto ring = netcheck::EstimateRing(outcome, gradient)) {
    data["all_reduce"] = {
        {"bytes", gradient},
        {"seconds", std::chrono::duration<double>(ring->time).count()},
        {"bytes_per_second", ring->bytes_per_second},
        {"slowest_from", ring->slowest.first},
        {"slowest_to", ring->slowest.second}};
  }
  return Dump(data);
}

Outcome Measure(const Context& context) {
  const Cluster& cluster = *context.cluster;
  auto signer = MeshSigner(*context.mesh);
  if (!signer) {
    return Judge({FromError(signer.error())}, "");
  }
  const auto outcome =
      netcheck::RunBandwidth({.cluster = cluster,
                              .self = MeshSelf(context),
                              .signer = *std::move(signer),
                              .wait = std::clamp<Duration>(
                                  context.mesh->wait, kLeastWait, kLongestWait),
                              .say = context.say},
                             context.host.clock);
  if (!outcome) {
    return Broken(outcome.error().message());
  }
  auto verdict = netcheck::JudgeBandwidths(
      cluster, *outcome, context.mesh->gradient, context.host.clock.WallNow());
  Outcome judged = Judge(std::move(verdict.findings), verdict.detail);
  judged.detail = std::move(verdict.detail);
  judged.lines = std::move(verdict.lines);
  judged.data = DataOf(*outcome, context.mesh->gradient);
  return judged;
}

Outcome Run(const Context& context) {
  if (!context.mesh) {
    return Skip("other members are not contacted here");
  }
  if (!SeveralHosts(*context.cluster)) {
    return Skip("all members are on this host");
  }
  if (Self(context) == nullptr) {
    return Skip("this host is not a member; only members measure");
  }
  return Measure(context);
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "network.speed",
                   .title = "no link is much slower than the others",
                   .needs = "cluster.described, network.reach",
                   .scope = Scope::kCluster,
                   .may_wait = true,
                   .on_request = true,
                   .deadline = kDeadline,
                   .severity = Severity::kWarning,
                   .run = Run};

}  // namespace muster::check::network_speed
