// SPDX-License-Identifier: Apache-2.0
#include "run/agent/agent_peer_check.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "cluster/members.h"
#include "netcheck/mesh/prober.h"
#include "netcheck/mesh/schedule.h"
#include "run/coordinator/peer_check.h"
#include "sys/process/process.h"

namespace muster::run {
namespace {

// Ready to listen on those of the held ports that others will try.
Result<std::vector<int>> Borrow(
    std::span<const sys::Listening> held,
    const std::vector<netcheck::MeshTarget>& targets, int rank) {
  std::vector<int> borrowed;
  for (const sys::Listening& one : held) {
    const netcheck::MeshTarget own{.rank = rank, .port = one.address.port};
    if (std::find(targets.begin(), targets.end(), own) != targets.end()) {
      MUSTER_TRY(sys::TakeConnections(one));
      borrowed.push_back(one.fd.get());
    }
  }
  if (borrowed.empty()) {
    return Error(Cause::kUsageInvalid,
                 "a peer check on ports that are not open");
  }
  return borrowed;
}

}  // namespace

struct AgentPeerCheck::Inner {
  netcheck::MeshProber member;
};

Result<std::unique_ptr<AgentPeerCheck>> AgentPeerCheck::Start(
    sys::Loop& loop, const sys::Clock& clock, wire::PeerCheckRequest request,
    const Options& options,
    std::function<void(const wire::PeerCheckResult&)> on_result) {
  const auto& ranks = options.identity->ranks;
  const auto size = static_cast<int>(request.ports.members.size());
  if (request.attempt != options.attempt || ranks.size() != 1 ||
      ranks.front() >= size) {
    return Error(Cause::kUsageInvalid, "a peer check of another attempt");
  }
  const int rank = ranks.front();
  const auto targets = netcheck::TargetsOf(request.ports);
  netcheck::MeshOptions mesh{
      .self = {.rank = rank,
               .host = options.identity->host,
               .pid = sys::OwnPid(),
               .version = options.identity->version,
               .purpose = "run, attempt " + std::to_string(request.attempt)},
      .signer = options.signer,
      .to_try = netcheck::Schedule(targets, size, rank),
      .wait = kPeerCheckTimeout};
  for (const Member& member : request.ports.members) {
    mesh.self.members.push_back(Place(member));
  }
  mesh.cluster = std::move(request.ports);
  MUSTER_ASSIGN(mesh.borrowed, Borrow(options.held, targets, rank));
  const auto over = [on_result = std::move(on_result),
                     attempt = request.attempt,
                     rank](netcheck::MeshOutcome outcome) {
    on_result({.attempt = attempt, .row = Dump(ToJson(outcome.rows[rank]))});
  };
  return std::unique_ptr<AgentPeerCheck>(
      new AgentPeerCheck(std::unique_ptr<Inner>(new Inner{
          netcheck::MeshProber(loop, clock, std::move(mesh), over)})));
}

AgentPeerCheck::AgentPeerCheck(std::unique_ptr<Inner> inner)
    : inner_(std::move(inner)) {}

AgentPeerCheck::~AgentPeerCheck() = default;

}  // namespace muster::run
