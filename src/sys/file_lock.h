// SPDX-License-Identifier: Apache-2.0
// A lock between processes.
#pragma once

#include <optional>
#include <string>

#include "muster/error.h"
#include "sys/fd.h"

namespace muster::sys {

// Locks a file, which is made where it is not there and stays; the lock is held
// until the descriptor is closed, at the latest by the end of the process. A
// program that this process starts does not inherit it; what it forks does.
// nullopt: it is locked already, by this process or another. On a file system
// without locks nothing is locked, and the log says so. Errors as Fs.
Result<std::optional<Fd>> LockFile(const std::string& path);

}  // namespace muster::sys
