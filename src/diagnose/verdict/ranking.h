// SPDX-License-Identifier: Apache-2.0
// Which causes the rules find among facts, and which of them is the root. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/match/rules.h"
#include "muster/fact.h"

namespace muster::diagnose {

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

// Where a program told of progress for the last time.
struct WentOn {
  std::int64_t rank = -1;  // -1: the line tells none
  std::int64_t line = 0;
  bool over = false;  // what is said at the end, however it ended
};

// What tells that programs went on, and what they did not survive all the same.
struct Progress {
  std::multimap<std::string, WentOn> lines;  // by source, no trouble after it
  std::map<std::string, std::int64_t> resumed;  // by source, the last line
  std::vector<std::string> ended_well;  // folders of sources; "": of all
  // Where the status is that of an exception: by source and rank, the last line
  // that it may have died of. Its standard output may have come after that.
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> deaths;
};
Progress LastProgress(std::span<const Fact> facts);

// True for a line that says that something went wrong, whatever it was; but not
// for pip's of versions that conflict, which it has installed all the same.
bool IsTrouble(const Fact& fact, std::span<const Fact> facts);

// True when the program went on after what the fact tells, or ended well. Of
// what a process dies of only progress of the same rank counts, and not that
// something is over, unless the run was begun anew.
bool WasSurvived(const Fact& fact, const Progress& progress);

// The status 0 where all that is told of ended with it, and nobody complains of
// a hang or of slowness; null: there is none.
const Fact* EndedWell(std::span<const Fact> facts);

// True for what a note says and the user did not find by trying either ("with
// NCCL_P2P_DISABLE=1 it runs"): a witness, and no proof.
bool IsUnobserved(const Fact& fact);

// The suspicions of kWeak and more, root first, then those that only hint,
// those with most hints first. `facts` must outlive the result.
std::vector<Suspicion> Suspicions(std::span<const Fact> facts,
                                  std::span<const Rule> rules);

}  // namespace muster::diagnose
