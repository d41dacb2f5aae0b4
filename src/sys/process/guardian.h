// SPDX-License-Identifier: Apache-2.0
// The guardian: the process between muster and the ranks, which outlives muster
// by just as long as it takes to end them. And its warden, which stands between
// muster and the guardian and does the same for that.
#pragma once

#include <signal.h>

#include <optional>

#include "muster/deadline.h"
#include "sys/cgroup/own_cgroup.h"
#include "sys/file/fd.h"

namespace muster::sys {

// The whole life of the guardian, in a process that was just forked and has no
// other thread. `socket` leads to the process that forked it; `mask` is the
// signal mask that ranks get. A program that does not run `exec_within` its
// start is given up. Returns when everything below is ended. The process itself
// becomes the warden; it exits with the number of the signal that has killed
// the guardian, with 0 where none has. What is started enters `cgroup`, where
// there is one.
void RunGuardian(Fd socket, const std::optional<OwnCgroup>& cgroup,
                 const sigset_t& mask, Duration exec_within);

}  // namespace muster::sys
