// SPDX-License-Identifier: Apache-2.0
#include "check/facts/targets.h"

#include <algorithm>

#include "base/json.h"

namespace muster::check {
namespace {

constexpr std::chrono::seconds kAgain{1};

identify::TcpProbeConnection::Options OptionsOf(const TargetSetup& setup,
                                                Duration again) {
  const Duration wait = std::min<Duration>(setup.wait, kLongestTargetWait);
  return {.connect = wait,
          .answer = wait / 4,
          .call = wait,
          .all = 2 * wait,
          .again = again,
          .callers = setup.callers};
}

}  // namespace

std::vector<identify::TargetReply> AskOnce(
    const Context& context, const std::vector<identify::Target>& targets) {
  return identify::AskTargets(targets,
                              OptionsOf(context.target, Duration::zero()));
}

std::vector<identify::TargetReply> AskTwice(
    const Context& context, const std::vector<identify::Target>& targets) {
  return identify::AskTargets(targets, OptionsOf(context.target, kAgain));
}

std::optional<Outcome> JudgeSilence(
    const Context& context, std::span<const identify::TargetReply> seen) {
  auto findings = identify::JudgeReach(seen, context.host.clock.WallNow());
  if (findings.empty()) {
    return std::nullopt;
  }
  Outcome outcome = Judge(std::move(findings), "");
  Show(seen, outcome);
  return outcome;
}

void Show(std::span<const identify::TargetReply> seen, Outcome& outcome) {
  outcome.lines = identify::LinesOf(seen);
  Json targets = Json::array();
  for (const identify::TargetReply& one : seen) {
    targets.push_back(identify::ToJson(one));
  }
  outcome.data = Dump(Json{{"targets", std::move(targets)},
                           {"replicas", identify::ReplicasOf(seen)}});
}

}  // namespace muster::check
