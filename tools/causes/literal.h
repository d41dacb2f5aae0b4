// SPDX-License-Identifier: Apache-2.0
// How generated C++ spells texts and names.
#pragma once

#include <string>
#include <string_view>

namespace causes {

inline constexpr std::string_view kNotice =
    "// SPDX-License-Identifier: Apache-2.0\n"
    "// Generated from causes/ by tools/gen_causes.cc.\n";

// "net-port-in-use" -> "kNetPortInUse"; also for severities and retry classes.
std::string Enumerator(std::string_view label);
// A C++ literal, one source line a line of text.
std::string Literal(std::string_view text);

}  // namespace causes
