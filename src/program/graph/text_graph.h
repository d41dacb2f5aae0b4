// SPDX-License-Identifier: Apache-2.0
// The text form of protobuf's messages, turned into their bytes.
#pragma once

#include <string>
#include <string_view>

#include "muster/error.h"
#include "program/graph/graph.h"

namespace muster::program::graph {

// A longer text is refused.
constexpr std::size_t kLongestText = std::size_t{128} << 20;

// The bytes of the same SavedModel or GraphDef, with the fields that are read
// here. file-corrupt: no text of such a message, with its line.
Result<std::string> BytesOfText(std::string_view text, Form form);

}  // namespace muster::program::graph
