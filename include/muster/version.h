// SPDX-License-Identifier: Apache-2.0
// The version of muster, program and library.
#pragma once

#include <string_view>

namespace muster {

// MAJOR.MINOR.PATCH. Agents of one run may differ in PATCH only.
inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace muster
