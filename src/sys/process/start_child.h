// SPDX-License-Identifier: Apache-2.0
// From a request to a running program: fork, the child's last steps, exec.
#pragma once

#include <signal.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "muster/deadline.h"
#include "sys/file/fd.h"
#include "wire/guardian_frame.h"

namespace muster::sys {

// A child on its way to its program, for which it may wait long: a file system
// does not answer.
struct StartingChild {
  std::int64_t id = 0;  // of the request
  int pid = 0;
  Fd said;  // what it says; its exec closes the other end
  Deadline give_up;
  int affinity_errno = 0;
  int cgroup_errno = 0;
  std::optional<wire::StartFailure> failure;
};

// Forks; no child, but a failure, where that cannot be done. `given` are the
// descriptors for request.targets; `entrance` is that of the cgroup that it
// enters, -1: none. Call it in a process that has one thread.
StartingChild ForkChild(const wire::StartRequest& request,
                        std::span<const Fd> given, int entrance,
                        const sigset_t& mask, Deadline give_up);

// Takes what it has said, without waiting. True: it runs its program, has ended
// or has failed; one that said why is buried.
bool Hear(StartingChild& child);

// Makes this errno its failure. It is to be sent KILL, and perhaps beyond the
// reach of that as well: whoever buries our children does so when it ends.
void GiveUp(StartingChild& child, int error_number);

// Closes every descriptor from `first` on, but those.
void CloseFrom(int first, std::vector<int> kept = {});

}  // namespace muster::sys
