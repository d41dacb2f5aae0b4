// SPDX-License-Identifier: Apache-2.0
// How a log ends: with progress of the program, or with trouble.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::evidence {

// The fact of a program that went on. Its patterns are looked for in the last
// lines only.
inline constexpr std::string_view kWentOn = "progress.went_on";

struct LogEnd {
  std::int64_t lines_after = 0;  // below it
  std::string text;
};

// The last line that tells of progress, if no trouble stands after it.
std::optional<LogEnd> LastProgress(std::string_view tail);

}  // namespace muster::evidence
