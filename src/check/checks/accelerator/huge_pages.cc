// SPDX-License-Identifier: Apache-2.0
// Transparent huge pages: without them a TPU's runtime pins host memory page by
// page at the start and at the end, long enough to miss heartbeats.
#include "base/text.h"
#include "check/check.h"

namespace muster::check::accelerator_huge_pages {
namespace {

constexpr char kFile[] = "/sys/kernel/mm/transparent_hugepage/enabled";

Outcome Run(const Context& context) {
  if (TpuDevices(context.host.fs).empty()) {
    return Skip("no TPU is visible here");
  }
  const auto text = context.host.fs.Read(kFile);
  if (!text) {
    return Broken(text.error().message());
  }
  const std::string seen = Printable(Trim(*text));
  if (text->find("[always]") != std::string::npos) {
    return Pass(seen);
  }
  return Judge({MakeProblem(context, Cause::kHeartbeatMissed,
                            "transparent huge pages are not set to always: the "
                            "TPU starts and stops slowly",
                            {{seen, kFile}}, Confidence::kPossible)},
               "");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{
    .id = "accelerator.huge-pages",
    .title = "transparent huge pages are enabled for the TPU",
    .severity = Severity::kWarning,
    .fix = {"enable them, as root",
            "echo always >/sys/kernel/mm/transparent_hugepage/enabled"},
    .run = Run};

}  // namespace muster::check::accelerator_huge_pages
