// SPDX-License-Identifier: Apache-2.0
// Notebooks: where this process runs, and variables that its kernel and its
// shells do not share.
#pragma once

#include <optional>
#include <string>

#include "resolve/resolve.h"

namespace muster::resolve {

// What the runtime itself leaves, not what a cell may have set: "env
// KAGGLE_KERNEL_RUN_TYPE", "/kaggle/input"; empty: this is none.
std::string KaggleMark(const sys::Host& host);
std::string ColabMark(const sys::Host& host);

// TPU_NAME is in the environment of a process that this one comes from, or of
// a notebook's kernel on this host, and not in this one; or the other way
// round, so that a restarted kernel loses it. Read from /proc; processes of
// other users are left out by the system. nullopt: nothing of it.
std::optional<Finding> FindLostTpuName(const sys::Host& host);

}  // namespace muster::resolve
