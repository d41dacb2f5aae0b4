// SPDX-License-Identifier: Apache-2.0
// Processes of this cgroup that the kernel killed for memory. They count in the
// group that had the limit and in its parents.
#include "base/text.h"
#include "check/check.h"
#include "sys/process/process.h"

namespace muster::check::postmortem_oom_kills {
namespace {

Outcome Run(const Context& context) {
  const auto kills = sys::OomKillsOfGroup(context.host.fs, 0);
  if (!kills) {
    return Skip("no counter is readable");
  }
  const auto count = static_cast<std::int64_t>(kills->count);
  const std::string seen = "oom_kill " + std::to_string(count);
  if (count == 0) {
    return Pass(seen + " in " + kills->path);
  }
  return Judge({MakeProblem(context, Cause::kOomHost,
                            "the OOM killer acted " + Count(count, "time") +
                                " in this cgroup",
                            {{seen, kills->path}}, Confidence::kPossible)},
               "");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "postmortem.oom-kills",
                   .title = "the OOM killer killed no process of this cgroup",
                   .on_request = true,
                   .after_failure = true,
                   .severity = Severity::kWarning,
                   .before_run = BeforeRun::kNever,
                   .run = Run};

}  // namespace muster::check::postmortem_oom_kills
