// SPDX-License-Identifier: Apache-2.0
// How much the end of one rank weighs, and what it is called.
#pragma once

#include <string_view>

#include "diagnose/verdict/hypothesis.h"
#include "diagnose/verdict/verdict.h"

namespace muster::diagnose {

struct Judgement {
  Weight weight;
  Cause cause;
  Confidence confidence = Confidence::kCertain;
};

// Of a rank that did not end well.
Judgement JudgeEnd(const RankEnd& end, const AttemptEnd& attempt);

// True when the program ended as we asked it to, whatever it made of that.
bool EndedAsAsked(const RankEnd& end);

// The layout of waitpid(2)'s status on Linux.
inline int SignalOf(int wait_status) {
  return wait_status & 0x7F;
}
inline int CodeOf(int wait_status) {
  return (wait_status >> 8) & 0xFF;
}
// Signals that a program brings upon itself.
bool IsCrash(int signal);

// The first fact of this name, or null.
const Fact* FindFact(const RankEnd& end, std::string_view name);

}  // namespace muster::diagnose
