// SPDX-License-Identifier: Apache-2.0
// Which causes the rules find among facts, and which of them is the root. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "explain/rules.h"
#include "muster/fact.h"

namespace muster::explain {

// One cause with everything that speaks for it.
struct Suspicion {
  Cause cause;
  RuleWeight weight = RuleWeight::kHint;
  int specificity = 0;                // conditions of the strongest rule
  int hints = 0;                      // rules that speak for it
  std::vector<const Fact*> evidence;  // strongest rule first
  std::int64_t order = 0;             // of its first evidence
  WallTime at{};
};

// Where programs told of progress for the last time, by source.
struct WentOn {
  std::int64_t rank = -1;  // -1: the line tells none
  std::int64_t line = 0;
  bool over = false;  // what is said at the end, however it ended
};
using Progress = std::multimap<std::string, WentOn>;

// Of programs at work, and no trouble after it.
Progress LastProgress(std::span<const Fact> facts);

// True when the program went on after what the fact tells. Of what a process
// dies of only progress of the same rank counts, and not that something is
// over.
bool WasSurvived(const Fact& fact, const Progress& progress);

// True when no program printed it, and whoever asks did not find it by trying
// either ("with NCCL_P2P_DISABLE=1 it runs"): a witness, and no proof.
bool IsMerelyTold(const Fact& fact);

// The suspicions of kWeak and more, root first, then those that only hint,
// those with most hints first. `facts` must outlive the result.
std::vector<Suspicion> Suspicions(std::span<const Fact> facts,
                                  std::span<const Rule> rules);

}  // namespace muster::explain
