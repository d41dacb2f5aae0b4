// SPDX-License-Identifier: Apache-2.0
// Checkpoints can be written where they are to go.
#include "base/text.h"
#include "check/check.h"
#include "netcheck/mesh/dialer.h"
#include "sys/file/temp_file.h"

namespace muster::check::storage_checkpoints {
namespace {

// A small file is written and removed: only that tells a folder from what is
// none, and from one of the kernel.
Status TryToWrite(const Context& context, const std::string& folder) {
  MUSTER_TRY(context.machine.MayAccess(folder, sys::Access::kWrite));
  const std::string file =
      sys::JoinPath(folder, ".muster-check-" + netcheck::MakeNonce());
  // It goes with this process, also at the deadline. Without it is no reason
  // not to look.
  const auto leaving = sys::TempFile::Make(file);
  MUSTER_ASSIGN(const auto appender, context.host.fs.OpenAppender(file));
  Status written =
      appender->Append("written by muster check to test write access\n");
  MUSTER_TRY(context.host.fs.Remove(file));
  return written;
}

Outcome Run(const Context& context) {
  if (context.checkpoints.empty()) {
    return Skip("--checkpoints is not given");
  }
  std::vector<Finding> findings;
  std::vector<std::string> good;
  for (const std::string& path : context.checkpoints) {
    if (IsRemote(path)) {
      good.push_back(path + " is not on this host, not checked");
      continue;
    }
    const std::string place = NearestExisting(context.host, path);
    const Status may = TryToWrite(context, place);
    if (may) {
      good.push_back(path);
      continue;
    }
    findings.push_back(
        MakeProblem(context, may.error().cause(),
                    "cannot write checkpoints to `" + Printable(path) + "`",
                    {{may.error().message(), "access", {{"path", place}}}}));
  }
  return Judge(std::move(findings), Join(good, ", "));
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "storage.checkpoints",
                   .title = "the checkpoint folders are writable",
                   .may_wait = true,
                   // A run is told no folder.
                   .before_run = BeforeRun::kNever,
                   .run = Run};

}  // namespace muster::check::storage_checkpoints
