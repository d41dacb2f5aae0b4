// SPDX-License-Identifier: Apache-2.0
// Who answers where somebody else's server is expected, by its own word. Only
// questions that read are asked: it joins no job and changes no state.
#include <algorithm>

#include "base/text.h"
#include "check/check.h"
#include "check/facts/targets.h"
#include "identify/target_findings.h"

namespace muster::check::target_answers {
namespace {

std::string Summary(std::span<const identify::TargetReply> seen) {
  const auto well =
      std::count_if(seen.begin(), seen.end(), [](const auto& one) {
        return !one.missed && identify::IsExpected(one.target, one.server);
      });
  std::string text = std::to_string(well) + " of " +
                     std::to_string(seen.size()) + " respond as expected";
  if (identify::ReplicasOf(seen) > 0) {
    text += ", " + identify::TextOfReplicas(seen);
  }
  return text;
}

Outcome Run(const Context& context) {
  const TargetSetup& setup = context.target;
  std::vector<identify::Target> targets = setup.targets;
  if (!setup.framework.empty() && context.cluster == nullptr) {
    return Judge(context.cluster_findings, "");
  }
  if (!setup.framework.empty()) {
    auto more = identify::TargetsOfFramework(*context.cluster, setup.framework);
    if (!more) {
      return Judge({FromError(more.error())}, "");
    }
    targets.insert(targets.end(), more->begin(), more->end());
  }
  if (targets.empty()) {
    return Skip("neither --target nor --framework is given");
  }
  if (targets.size() > identify::kMaxTargets) {
    return Broken(std::to_string(targets.size()) + " targets; at most " +
                  std::to_string(identify::kMaxTargets) +
                  " can be probed at once");
  }
  const auto seen = AskTwice(context, targets);
  const std::string summary = Summary(seen);
  Outcome outcome = Judge(identify::JudgeTargets(seen, setup.replicas,
                                                 context.host.clock.WallNow()),
                          summary);
  outcome.detail = summary;
  Show(seen, outcome);
  return outcome;
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "target.answers",
                   .title = "the expected servers respond",
                   .scope = Scope::kCluster,
                   .may_wait = true,
                   .on_request = true,
                   .deadline = kTargetDeadline,
                   .run = Run};

}  // namespace muster::check::target_answers
