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
    return Error(Cause::kUsageInvalid, "a meeting at ports that are not held");
  }
  return borrowed;
}

}  // namespace

struct AgentMeeting::Inner {
  netcheck::MeshMember member;
};

Result<std::unique_ptr<AgentMeeting>> AgentMeeting::Start(
    sys::Loop& loop, const sys::Clock& clock, const Options& options,
    std::function<void(const Json&)> tell) {
  MUSTER_ASSIGN(Meet meet, MeetFromJson(*options.meet));
  const auto& ranks = options.identity->ranks;
  const auto size = static_cast<int>(meet.ports.members.size());
  if (meet.attempt != options.attempt || ranks.size() != 1 ||
      ranks.front() >= size) {
    return Error(Cause::kUsageInvalid, "a meeting of another attempt");
  }
  const int rank = ranks.front();
  const auto targets = netcheck::TargetsOf(meet.ports);
  netcheck::MeshOptions mesh{
      .self = {.rank = rank,
               .host = options.identity->host,
               .pid = sys::OwnPid(),
               .version = options.identity->version,
               .purpose = "run, attempt " + std::to_string(meet.attempt)},
      .signer = options.signer,
      .to_try = netcheck::Schedule(targets, size, rank),
      .wait = kMeetingWait};
  for (const Member& member : meet.ports.members) {
    mesh.self.members.push_back(Place(member));
  }
  mesh.cluster = std::move(meet.ports);
  MUSTER_ASSIGN(mesh.borrowed, Borrow(options.held, targets, rank));
  const auto told = [tell = std::move(tell), attempt = meet.attempt,
                     rank](netcheck::MeshOutcome outcome) {
    tell(ToJson(Met{.attempt = attempt, .row = std::move(outcome.rows[rank])}));
  };
  return std::unique_ptr<AgentMeeting>(new AgentMeeting(std::unique_ptr<Inner>(
      new Inner{netcheck::MeshMember(loop, clock, std::move(mesh), told)})));
}

AgentMeeting::AgentMeeting(std::unique_ptr<Inner> inner)
    : inner_(std::move(inner)) {}

AgentMeeting::~AgentMeeting() = default;

}  // namespace muster::run
