// SPDX-License-Identifier: Apache-2.0
#include "finding/outcome.h"

#include <algorithm>

namespace muster {

Outcome Pass(std::string detail) {
  return {.state = OutcomeState::kPass, .detail = std::move(detail)};
}

Outcome Skip(std::string reason) {
  return {.state = OutcomeState::kSkip, .detail = std::move(reason)};
}

Outcome Broken(std::string reason) {
  return {.state = OutcomeState::kBroken, .detail = std::move(reason)};
}

Outcome Judge(std::vector<Finding> findings, std::string detail_if_none) {
  if (findings.empty()) {
    return Pass(std::move(detail_if_none));
  }
  const auto has = [&](Severity severity) {
    return std::any_of(
        findings.begin(), findings.end(),
        [&](const Finding& one) { return one.severity == severity; });
  };
  Outcome outcome{.state = has(Severity::kError)     ? OutcomeState::kFail
                           : has(Severity::kWarning) ? OutcomeState::kWarn
                                                     : OutcomeState::kPass,
                  .detail = findings.front().what};
  outcome.findings = std::move(findings);
  return outcome;
}

std::string_view ToString(OutcomeState state) {
  switch (state) {
    case OutcomeState::kPass:
      return "pass";
    case OutcomeState::kWarn:
      return "warn";
    case OutcomeState::kFail:
      return "fail";
    case OutcomeState::kSkip:
      return "skip";
    case OutcomeState::kBroken:
      return "broken";
  }
  return "?";
}

}  // namespace muster
