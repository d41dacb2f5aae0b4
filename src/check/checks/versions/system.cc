// SPDX-License-Identifier: Apache-2.0
// What the system brings: kernel, C library, GPU driver, NCCL. One host alone
// cannot have a wrong one; network.reach lays those of all members side by
// side.
#include "base/text.h"
#include "check/check.h"
#include "check/facts/system_versions.h"

namespace muster::check::versions_system {
namespace {

Outcome Run(const Context& context) {
  std::vector<std::string> texts;
  for (const auto& [name, version] : SystemVersions(context.host.fs)) {
    texts.push_back(std::string(name).append(" ").append(Printable(version)));
  }
  return texts.empty() ? Broken("no file on this host contains a version")
                       : Pass(Join(texts, ", "));
}

}  // namespace

extern const Check kCheck;
const Check kCheck{
    .id = "versions.system",
    .title = "the versions of kernel, C library, driver and NCCL are known",
    .may_wait = true,
    .severity = Severity::kNote,
    .before_run = BeforeRun::kNever,
    .run = Run};

}  // namespace muster::check::versions_system
