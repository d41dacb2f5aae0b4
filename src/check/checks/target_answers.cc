// SPDX-License-Identifier: Apache-2.0
// Who answers where somebody else's server is expected, by its own word. Only
// questions that read are asked: it joins no job and changes no state.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "check/check.h"
#include "connect/target_verdict.h"

namespace muster::check::target_answers {
namespace {

constexpr std::chrono::seconds kLongestWait{30};
// Connecting, being told who it is, and a second look.
constexpr std::chrono::seconds kDeadline{4 * kLongestWait};
// Two calls so far apart tell a worker that is restarted again and again.
constexpr std::chrono::seconds kAgain{1};

connect::TcpWire::Options OptionsOf(const TargetSetup& setup) {
  const Duration wait = std::min<Duration>(setup.wait, kLongestWait);
  return {.connect = wait,
          .answer = wait / 4,
          .call = wait,
          .all = 2 * wait,
          .again = kAgain,
          .callers = setup.callers};
}

std::string Summary(std::span<const connect::TargetSeen> seen) {
  const auto well =
      std::count_if(seen.begin(), seen.end(), [](const auto& one) {
        return !one.missed && connect::IsExpected(one.target, one.server);
      });
  std::string text = std::to_string(well) + " of " +
                     std::to_string(seen.size()) + " answer as expected";
  if (connect::ReplicasOf(seen) > 0) {
    text += ", " + connect::TextOfReplicas(seen);
  }
  return text;
}

std::string DataOf(std::span<const connect::TargetSeen> seen) {
  Json targets = Json::array();
  for (const connect::TargetSeen& one : seen) {
    targets.push_back(connect::ToJson(one));
  }
  return Json{{"targets", std::move(targets)},
              {"replicas", connect::ReplicasOf(seen)}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Outcome Run(const Context& context) {
  const TargetSetup& setup = context.target;
  std::vector<connect::Target> targets = setup.targets;
  if (!setup.framework.empty() && context.cluster == nullptr) {
    return Judge(context.cluster_findings, "");
  }
  if (!setup.framework.empty()) {
    auto more = connect::TargetsOfFramework(*context.cluster, setup.framework);
    if (!more) {
      return Judge({FromError(more.error())}, "");
    }
    targets.insert(targets.end(), more->begin(), more->end());
  }
  if (targets.empty()) {
    return Skip("neither --target nor --framework is given");
  }
  if (targets.size() > connect::kMostTargets) {
    return Broken(std::to_string(targets.size()) + " targets, at most " +
                  std::to_string(connect::kMostTargets) + " are asked at once");
  }
  const auto seen = connect::AskTargets(targets, OptionsOf(setup));
  const std::string summary = Summary(seen);
  Outcome outcome = Judge(
      connect::JudgeTargets(seen, setup.replicas, context.host.clock.WallNow()),
      summary);
  outcome.detail = summary;
  outcome.lines = connect::LinesOf(seen);
  outcome.data = DataOf(seen);
  return outcome;
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "target.answers",
                   .title = "who answers is who is expected",
                   .scope = Scope::kCluster,
                   .may_wait = true,
                   .on_request = true,
                   .deadline = kDeadline,
                   .run = Run};

}  // namespace muster::check::target_answers
