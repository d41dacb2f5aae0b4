// SPDX-License-Identifier: Apache-2.0
// Checkpoints can be written where they are to go.
#include "base/text.h"
#include "check/check.h"

namespace muster::check::storage_checkpoints {
namespace {

Outcome Run(const Context& context) {
  if (context.checkpoints.empty()) {
    return Skip("no --checkpoints is given");
  }
  std::vector<Finding> findings;
  std::vector<std::string> good;
  for (const std::string& path : context.checkpoints) {
    if (IsRemote(path)) {
      good.push_back(path + " is not of this host, not looked at");
      continue;
    }
    const std::string place = NearestExisting(context.host, path);
    const auto may = context.machine.MayAccess(place, sys::Access::kWrite);
    if (may) {
      good.push_back(path);
      continue;
    }
    findings.push_back(MakeProblem(
        context, may.error().cause(),
        "checkpoints cannot be written to `" + Printable(path) + "`",
        {{may.error().message(), "access", {{"path", place}}}}));
  }
  return Judge(std::move(findings), Join(good, ", "));
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "storage.checkpoints",
                   .title = "checkpoints can be written",
                   .may_wait = true,
                   // A run is told no folder.
                   .before_run = BeforeRun::kNever,
                   .run = Run};

}  // namespace muster::check::storage_checkpoints
