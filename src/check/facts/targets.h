// SPDX-License-Identifier: Apache-2.0
// What checks share that ask servers of others.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "check/check.h"
#include "identify/target_findings.h"

namespace muster::check {

inline constexpr std::chrono::seconds kLongestTargetWait{30};
// Connecting, being told who it is, and a second look a second later.
inline constexpr std::chrono::seconds kTargetDeadline{4 * kLongestTargetWait +
                                                      std::chrono::seconds(5)};

std::vector<identify::TargetSeen> AskOnce(
    const Context& context, const std::vector<identify::Target>& targets);
// A second time a second later: a worker that is restarted again and again
// changes its incarnation, or is gone.
std::vector<identify::TargetSeen> AskTwice(
    const Context& context, const std::vector<identify::Target>& targets);

// What keeps them from telling of themselves this time, in place of what their
// silence would be counted as; nullopt: all of them told.
std::optional<Outcome> JudgeSilence(const Context& context,
                                    std::span<const identify::TargetSeen> seen);

// Lines for people and data for programs.
void Show(std::span<const identify::TargetSeen> seen, Outcome& outcome);

}  // namespace muster::check
