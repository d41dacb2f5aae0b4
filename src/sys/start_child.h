// SPDX-License-Identifier: Apache-2.0
// From a request to a running program: fork, the child's last steps, exec.
#pragma once

#include <signal.h>

#include <optional>
#include <span>

#include "muster/deadline.h"
#include "sys/fd.h"
#include "sys/guardian_wire.h"

namespace muster::sys {

struct StartedChild {
  int pid = 0;
  int affinity_errno = 0;
  std::optional<StartFailure> failure;
};

// Forks and waits until the child runs its program or has said why it cannot.
// `given` are the descriptors for request.targets. Call it in a process that
// has one thread. A child that has done neither by the deadline (a file system
// does not answer) is sent KILL, fails with ETIMEDOUT and is the one child that
// the caller still has to wait for after a failure.
StartedChild StartChild(const StartRequest& request, std::span<const Fd> given,
                        const sigset_t& mask, Deadline deadline);

// Closes every descriptor from `first` on.
void CloseFrom(int first);

}  // namespace muster::sys
