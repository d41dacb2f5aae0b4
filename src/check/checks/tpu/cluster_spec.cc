// SPDX-License-Identifier: Apache-2.0
// Last step: every worker is the task that the cluster spec has at its address.
#include "base/text.h"
#include "check/check.h"
#include "check/facts/targets.h"

namespace muster::check::tpu_cluster_spec {
namespace {

std::vector<std::string> SpecOf(const std::vector<identify::Target>& targets) {
  std::vector<std::string> lines;
  lines.reserve(targets.size());
  for (const identify::Target& target : targets) {
    lines.push_back((target.task ? target.task->job + " " +
                                       std::to_string(target.task->index)
                                 : "host") +
                    "  " + ToString(target.address));
  }
  return lines;
}

Outcome Run(const Context& context) {
  const auto& workers = context.tpu.workers;
  if (workers.empty()) {
    Outcome outcome = Pass(
        Count(static_cast<int>(context.tpu.hosts.size() + context.tpu.left_out),
              "host") +
        "; programs exchange their tasks");
    outcome.lines = SpecOf(context.tpu.hosts);
    return outcome;
  }
  const auto seen = AskOnce(context, workers);
  if (auto silence = JudgeSilence(context, seen)) {
    return *std::move(silence);
  }
  Outcome outcome =
      Judge(identify::JudgeTasks(seen, context.host.clock.WallNow()),
            "every worker is the task listed for its address");
  Show(seen, outcome);
  outcome.lines = SpecOf(workers);
  return outcome;
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "tpu.cluster-spec",
                   .title = "every worker is the task listed for its address",
                   .needs = "tpu.replicas",
                   .scope = Scope::kCluster,
                   .may_wait = true,
                   .on_request = true,
                   .deadline = kTargetDeadline,
                   .run = Run};

}  // namespace muster::check::tpu_cluster_spec
