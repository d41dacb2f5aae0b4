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
// What a generated file says before its first literal.
inline constexpr std::string_view kLiterals =
    "using namespace std::string_view_literals;\n\n";
// A C++ literal, one source line a line of text: a std::string_view, so that
// the compiler takes its length instead of counting it (clang stops after a
// million steps in one constant).
std::string Literal(std::string_view text);

}  // namespace causes
