// SPDX-License-Identifier: Apache-2.0
// How a log ends: with progress of the program, or with trouble.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::diagnose {

// Facts of progress. All but bars ("progress.bar") are looked for in the last
// lines only.
//
// A program at work, and no trouble after it.
inline constexpr std::string_view kWentOn = "progress.went_on";
// What is said at the end, however it ended ("Done", the summary of a tracker).
inline constexpr std::string_view kOver = "progress.over";
// A program at work, before the trouble that the log ends in.
inline constexpr std::string_view kThenFailed = "progress.then_failed";

// True for a fact whose patterns only the last lines are searched for.
bool IsOfEnd(std::string_view fact);

struct LogEnd {
  std::string_view fact;      // one of the three
  int rank = -1;              // that tells it; -1: the line tells none
  std::int64_t newlines = 0;  // from the end of the line to the end of the log
  std::string text;
};

using RankOfLine = std::function<int(std::string_view line)>;

// The last lines that tell of progress: of each rank, and of lines without one,
// the last of each kind. A bar below trouble, where none goes beyond it, is of
// the kind kOver: programs that die paint theirs once more.
std::vector<LogEnd> LastProgress(std::string_view tail,
                                 const RankOfLine& rank_of);

}  // namespace muster::diagnose
