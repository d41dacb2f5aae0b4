// SPDX-License-Identifier: Apache-2.0
// What the kernel, a scheduler or an orchestrator recorded of this host or job:
// text that reads like a log.
#pragma once

#include <string>
#include <vector>

#include "finding/outcome.h"

namespace muster::check {

struct RecordedText {
  std::string name;  // "kernel log", "scontrol show job 12"
  std::string text;  // whole lines
};

// Hands the texts on with the outcome: as lines for people, as `texts` of its
// data for programs.
void AddTexts(const std::vector<RecordedText>& texts, Outcome& outcome);
// Those of AddTexts; none of an outcome without them.
std::vector<RecordedText> TextsOf(const Outcome& outcome);

}  // namespace muster::check
