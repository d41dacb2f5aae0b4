// SPDX-License-Identifier: Apache-2.0
// Facts in, one answer out: a cause, "not known" with what remains, or healthy.
// Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/text.h"
#include "finding/finding.h"

namespace muster::diagnose {

using muster::ToString;  // those declared here do not hide it

enum class AnswerKind { kCause, kUnknown, kHealthy };

// A cause that the facts leave open.
struct Candidate {
  Cause cause;
  std::string why;      // the line that speaks for it
  std::string decide;   // the observation that would decide
  std::string command;  // that makes it; empty: none
};

struct Answer {
  AnswerKind kind = AnswerKind::kHealthy;
  std::vector<Finding> findings;      // root first
  std::vector<Candidate> candidates;  // most likely first, at most three
  std::vector<Evidence> harmless;     // alarming lines that mean nothing
  std::vector<Evidence> host;         // what was seen on this machine
  std::string interrupted;  // from the keyboard, before anything failed
  // By a note or the exit status; empty: by neither.
  std::string reported_success;
};

// The facts of LogScanner, of checks of this host and of runs.
Answer Explain(std::vector<Fact> facts);

// Of a run that judged itself: its findings stay, root first, for it saw more
// than its logs tell. Where it knew no more than that a program failed or a
// peer went away, the cause that the logs name comes before them.
Answer WithReported(Answer answer, std::vector<Finding> reported);

// Schema muster.explain/1.
Json ToJson(const Answer& answer);
std::string RenderText(const Answer& answer, const RenderOptions& options);

std::string_view ToString(AnswerKind kind);  // "cause"

}  // namespace muster::diagnose
