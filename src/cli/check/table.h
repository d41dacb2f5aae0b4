// SPDX-License-Identifier: Apache-2.0
// The lines of `muster check`: one for each check, and what it shows below.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "check/runner.h"

namespace muster::cli {

struct TableOptions {
  std::size_t width = 0;  // of the terminal; 0: it is none, nothing is wrapped
  bool color = false;
};

// A text in a column of this width.
std::string Cell(std::string_view text, std::size_t width);

inline constexpr std::size_t kMarkWidth = 8;
inline constexpr std::size_t kIdWidth = 24;

// "ok      host.clock  …", with the lines of the outcome. The findings stand
// below the whole table, so the line gives their names.
std::string RowsOf(const check::Answer& answer, const TableOptions& options);

}  // namespace muster::cli
