// SPDX-License-Identifier: Apache-2.0
// Second step: every worker answers as a worker of TensorFlow; where programs
// open the chips of their own hosts, every host of the slice is up.
#include <algorithm>

#include "base/text.h"
#include "check/check.h"
#include "check/facts/targets.h"

namespace muster::check::tpu_connected {
namespace {

std::string Of(std::ptrdiff_t well, std::size_t all) {
  return std::to_string(well) + " of " + std::to_string(all);
}

std::string LeftOut(const TpuSetup& tpu) {
  return tpu.left_out == 0
             ? ""
             : "; " + Count(static_cast<std::int64_t>(tpu.left_out), "host") +
                   " more not probed";
}

Outcome AskWorkers(const Context& context) {
  const auto seen = AskTwice(context, context.tpu.workers);
  const auto well =
      std::count_if(seen.begin(), seen.end(), [](const auto& one) {
        return !one.missed && identify::IsExpected(one.target, one.server);
      });
  const std::string detail = "connected " + Of(well, seen.size()) + " workers";
  Outcome outcome =
      Judge(identify::JudgeReach(seen, context.host.clock.WallNow()), detail);
  outcome.detail = detail;
  Show(seen, outcome);
  return outcome;
}

// Before programs start nothing listens there: a host that refuses is up.
Outcome LookForHosts(const Context& context) {
  auto seen = AskOnce(context, context.tpu.hosts);
  for (identify::TargetReply& one : seen) {
    if (one.missed && one.missed->cause() == Cause::kNetWrongEndpoint) {
      one.missed.reset();
      one.server = {.protocol = "none", .text = "the host is up"};
    }
  }
  const auto up = std::count_if(seen.begin(), seen.end(),
                                [](const auto& one) { return !one.missed; });
  const std::string detail = Of(up, seen.size()) +
                             " hosts are up; programs connect them when they "
                             "start" +
                             LeftOut(context.tpu);
  Outcome outcome =
      Judge(identify::JudgeReach(seen, context.host.clock.WallNow()), detail);
  outcome.detail = detail;
  outcome.lines = identify::LinesOf(seen);
  return outcome;
}

Outcome Run(const Context& context) {
  if (!context.tpu.workers.empty()) {
    return AskWorkers(context);
  }
  if (context.tpu.hosts.size() > 1) {
    return LookForHosts(context);
  }
  return Pass("the chips are local: no connection is needed");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "tpu.connected",
                   .title = "every worker of the TPU responds",
                   .needs = "tpu.resolved",
                   .scope = Scope::kCluster,
                   .may_wait = true,
                   .on_request = true,
                   .deadline = kTargetDeadline,
                   .run = Run};

}  // namespace muster::check::tpu_connected
