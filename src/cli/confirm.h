// SPDX-License-Identifier: Apache-2.0
// Asking before something that others would notice. Main thread.
#pragma once

#include <string>

#include "muster/error.h"

namespace muster::cli {

// Whether the person at the terminal says yes; anything else is no.
// usage-invalid: nobody can be asked, and `flag` is what answers in advance.
Result<bool> Confirm(const std::string& question, const std::string& flag);

}  // namespace muster::cli
