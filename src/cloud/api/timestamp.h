// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "muster/fact.h"

namespace muster::cloud {

// RFC 3339 with any number of fraction digits.
std::optional<WallTime> ParseTimestamp(const std::string& text);

}  // namespace muster::cloud
