// SPDX-License-Identifier: Apache-2.0
// The help of a sub-command, at 80 columns, from its description.
#pragma once

#include <string>

#include "cli/line/verb.h"

namespace muster::cli {

std::string HelpText(const Verb& verb);

// "muster tpu create NAME [flags]".
std::string UsageLine(const Verb& verb);

}  // namespace muster::cli
