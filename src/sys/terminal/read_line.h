// SPDX-License-Identifier: Apache-2.0
// One line of a pipe whose other bytes are for somebody else.
#pragma once

#include <cstddef>
#include <string>

#include "muster/deadline.h"
#include "muster/error.h"

namespace muster::sys {

// Reads up to and with the first end of line, byte by byte, and gives it
// without. peer-died: the other end closed before; deadline-exceeded;
// usage-invalid: the line is longer than `limit`. Blocks.
Result<std::string> ReadLine(int fd, std::size_t limit, Deadline deadline);

// "Linux x86_64", as `uname -sm` says.
std::string KindOfMachine();

}  // namespace muster::sys
