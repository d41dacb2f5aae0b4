// SPDX-License-Identifier: Apache-2.0
// The man page of a sub-command, from its description. Pure; any thread.
#pragma once

#include <string>

#include "cli/line/verb.h"

namespace muster::cli {

// "muster-tpu-create".
std::string ManPageName(const Verb& verb);
// In the macros of man(7).
std::string ManPage(const Verb& verb);

}  // namespace muster::cli
