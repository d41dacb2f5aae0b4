// SPDX-License-Identifier: Apache-2.0
// What another program prints, where it is asked for a fact and must not keep
// us waiting.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "muster/deadline.h"
#include "muster/error.h"

namespace muster::sys {

// Runs argv (found on the PATH, no shell) and gives its standard output, at
// most `limit` bytes of it; its input and its errors are /dev/null. It is ended
// with its descendants of the same session when the deadline passes.
// program-not-found: there is none; app-exception: it ended with an error;
// deadline-exceeded; os-limit: no process can be made. Main thread.
Result<std::string> OutputOf(const std::vector<std::string>& argv,
                             std::size_t limit, Deadline deadline);

}  // namespace muster::sys
