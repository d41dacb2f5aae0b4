// SPDX-License-Identifier: Apache-2.0
// What a check, or a question asked of a compiler, came to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "finding/finding.h"

namespace muster {

// broken: the check itself could not be made, which says nothing of what it
// examines.
enum class OutcomeState { kPass, kWarn, kFail, kSkip, kBroken };

std::string_view ToString(OutcomeState state);  // "pass"

struct Outcome {
  OutcomeState state = OutcomeState::kBroken;
  std::string detail;  // what was seen, or why it was skipped or is broken
  std::vector<Finding> findings;
  std::vector<std::string> lines;  // a table for people, below the line
  std::string data;                // the same for programs: JSON, or empty
};
Outcome Pass(std::string detail);
Outcome Skip(std::string reason);
Outcome Broken(std::string reason);
// The worst finding decides: error fails, warning warns; none passes.
Outcome Judge(std::vector<Finding> findings, std::string detail_if_none);

}  // namespace muster
