// SPDX-License-Identifier: Apache-2.0
// How many nodes torch's launcher waits for.
#pragma once

#include <string_view>

#include "muster/error.h"

namespace muster::resolve {

// "2" or "1:3".
struct NodeRange {
  int least = 1;
  int most = 1;
};
// cluster-spec-invalid names the position.
Result<NodeRange> ParseNodeRange(std::string_view text);

}  // namespace muster::resolve
