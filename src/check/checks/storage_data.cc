// SPDX-License-Identifier: Apache-2.0
// The data can be read by the host that opens it.
#include "base/text.h"
#include "check/check.h"

namespace muster::check::storage_data {
namespace {

Finding Unreadable(const Context& context, const std::string& path,
                   const Error& why) {
  const bool missing = why.cause() == Cause::kFileMissing;
  return MakeProblem(
      context, missing ? Cause::kDataPathUnreachable : why.cause(),
      "the data at `" + Printable(path) + "` " +
          (missing ? "is not there on this host" : "cannot be read"),
      {{why.message(), "access", {{"path", path}}}});
}

Outcome Run(const Context& context) {
  if (context.data.empty()) {
    return Skip("no --data is given");
  }
  std::vector<Finding> findings;
  std::vector<std::string> good;
  for (const std::string& path : context.data) {
    if (IsRemote(path)) {
      good.push_back(path + " is not of this host, not looked at");
      continue;
    }
    const auto may = context.machine.MayAccess(path, sys::Access::kRead);
    if (may) {
      good.push_back(path);
    } else {
      findings.push_back(Unreadable(context, path, may.error()));
    }
  }
  return Judge(std::move(findings), Join(good, ", "));
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "storage.data",
                   .title = "the data can be read",
                   .may_wait = true,
                   // A run is told no folder.
                   .before_run = BeforeRun::kNever,
                   .run = Run};

}  // namespace muster::check::storage_data
