// SPDX-License-Identifier: Apache-2.0
// The accelerators of this host can be opened, are as many as they should be,
// and add right. Only with --open: nobody else can use them meanwhile.
#include "check/facts/device_open.h"

namespace muster::check::accelerator_opened {
namespace {

Outcome Run(const Context& context) {
  if (!context.opening.refused.empty()) {
    return Skip("not opened: " + context.opening.refused);
  }
  return context.opening.asked ? OpenDevices(context)
                               : Skip("not opened without --open");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{
    .id = "accelerator.opened",
    .title = "devices open and an all-reduce gives the right sum",
    .may_wait = true,
    .on_request = true,
    .deadline = kDeviceOpenTimeout,
    .before_run = BeforeRun::kNever,
    .run = Run};

}  // namespace muster::check::accelerator_opened
