// SPDX-License-Identifier: Apache-2.0
// The last words of the kernel.
#pragma once

#include <cstddef>
#include <string>

#include "muster/error.h"

namespace muster::sys {

// The newest `limit` bytes of the kernel's ring buffer, as lines
// "<6>[ 123.456789] text". It waits for nothing and takes nothing out.
// file-permission: the kernel shows it to the administrator only. Any thread.
Result<std::string> KernelLog(std::size_t limit);

}  // namespace muster::sys
