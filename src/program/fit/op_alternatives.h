// SPDX-License-Identifier: Apache-2.0
// What to write in place of an operation that a compiler of TPUs refuses. Pure.
#pragma once

#include <string_view>

namespace muster::program {

// By the operation that the compiler names and by its text. Empty: not known.
std::string_view InsteadOf(std::string_view operation, std::string_view text);

}  // namespace muster::program
