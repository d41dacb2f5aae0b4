// SPDX-License-Identifier: Apache-2.0
#include "check/check.h"

#include <algorithm>

namespace muster::check {

Outcome Pass(std::string detail) {
  return {.verdict = Verdict::kPass, .detail = std::move(detail)};
}

Outcome Skip(std::string reason) {
  return {.verdict = Verdict::kSkip, .detail = std::move(reason)};
}

Outcome Broken(std::string reason) {
  return {.verdict = Verdict::kBroken, .detail = std::move(reason)};
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
  Outcome outcome{.verdict = has(Severity::kError)     ? Verdict::kFail
                             : has(Severity::kWarning) ? Verdict::kWarn
                                                       : Verdict::kPass,
                  .detail = findings.front().what};
  outcome.findings = std::move(findings);
  return outcome;
}

std::string_view WordOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kWarn:
      return "warn";
    case Verdict::kFail:
      return "fail";
    case Verdict::kSkip:
      return "skip";
    case Verdict::kBroken:
      return "broken";
  }
  return "?";
}

std::string_view WordOf(Scope scope) {
  return scope == Scope::kCluster ? "cluster" : "host";
}

Finding MakeProblem(const Context& context, Cause cause, std::string what,
                    const std::vector<Seen>& seen, Confidence confidence) {
  std::vector<Fact> facts;
  for (const Seen& one : seen) {
    Fact fact{.name = "check.seen",
              .fields = one.fields,
              .by = one.source,
              .at = context.host.clock.WallNow()};
    fact.fields["text"] = one.what;
    facts.push_back(std::move(fact));
  }
  return MakeFinding(cause, std::move(what), confidence, facts);
}

}  // namespace muster::check
