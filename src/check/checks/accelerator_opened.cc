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
  return context.opening.asked
             ? OpenDevices(context)
             : Skip("nothing is opened unless --open asks for it");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "accelerator.opened",
                   .title = "the accelerators open, and add right",
                   .may_wait = true,
                   .on_request = true,
                   .deadline = kLongestOpening,
                   .before_run = BeforeRun::kNever,
                   .run = Run};

}  // namespace muster::check::accelerator_opened
