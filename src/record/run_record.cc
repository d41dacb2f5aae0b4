// SPDX-License-Identifier: Apache-2.0
#include "record/run_record.h"

#include <algorithm>

#include "record/events.h"

namespace muster::record {
namespace {

// Which member of an attempt a fact fills.
std::optional<Fact> AttemptRecord::*MemberFor(std::string_view name) {
  using Member = std::optional<Fact> AttemptRecord::*;
  static constexpr std::pair<std::string_view, Member> kMembers[] = {
      {kAttemptCalled, &AttemptRecord::called},
      {kAttemptGathered, &AttemptRecord::gathered},
      {kAttemptLaunched, &AttemptRecord::launched},
      {kFirstStep, &AttemptRecord::first_step},
      {kFlatLoss, &AttemptRecord::flat_loss},
      {kAttemptFailed, &AttemptRecord::failed},
      {kAttemptStopped, &AttemptRecord::stopped},
      {kDecided, &AttemptRecord::decided}};
  for (const auto& [known, member] : kMembers) {
    if (known == name) {
      return member;
    }
  }
  return nullptr;
}

}  // namespace

double Decimal(const Fact& fact, std::string_view field) {
  const auto found = fact.fields.find(std::string(field));
  if (found == fact.fields.end()) {
    return 0;
  }
  if (const auto* value = std::get_if<double>(&found->second)) {
    return *value;
  }
  const auto* whole = std::get_if<std::int64_t>(&found->second);
  return whole == nullptr ? 0 : static_cast<double>(*whole);
}

std::vector<const Fact*> AttemptRecord::Reporting() const {
  std::vector<const Fact*> facts;
  for (const auto& [rank, fact] : exited) {
    if (fact.Has("steps")) {
      facts.push_back(&fact);
    }
  }
  return facts;
}

double AttemptRecord::Mean(std::string_view field) const {
  const auto facts = Reporting();
  double sum = 0;
  for (const Fact* fact : facts) {
    sum += Decimal(*fact, field);
  }
  return facts.empty() ? 0 : sum / static_cast<double>(facts.size());
}

std::optional<std::int64_t> AttemptRecord::Most(std::string_view field) const {
  std::optional<std::int64_t> most;
  for (const Fact* fact : Reporting()) {
    most = std::max(most.value_or(0), fact->Number(field));
  }
  return most;
}

const AttemptRecord* RunRecord::Next(int attempt) const {
  const auto next = attempts.upper_bound(attempt);
  return next == attempts.end() ? nullptr : &next->second;
}

const AttemptRecord* RunRecord::Trained() const {
  const AttemptRecord* trained = nullptr;
  for (const auto& [number, attempt] : attempts) {
    if (attempt.Most("steps").value_or(0) > 0) {
      trained = &attempt;
    }
  }
  return trained;
}

RunRecord ReadRecord(std::span<const Fact> facts) {
  RunRecord run;
  for (const Fact& fact : facts) {
    const auto attempt = [&]() -> AttemptRecord& {
      return run.attempts[static_cast<int>(fact.Number("attempt", 1))];
    };
    const auto rank = static_cast<int>(fact.Number("rank", -1));
    if (const auto member = MemberFor(fact.name)) {
      attempt().*member = fact;
    } else if (fact.name == kRankStarted) {
      attempt().started[rank] = fact;
    } else if (fact.name == kRankExited) {
      attempt().exited[rank] = fact;
    } else if (fact.name == kRunStarted) {
      run.started = fact;
    } else if (fact.name == kRunEnded) {
      run.ended = fact;
    } else if (fact.name == kRunNote) {
      run.notes.push_back(fact);
    } else if (fact.name == kContainment) {
      run.containment.insert_or_assign(fact.subject, fact);
    } else if (fact.name == kFinding) {
      run.findings.push_back(fact);
    }
  }
  return run;
}

std::optional<std::int64_t> ResumedFrom(const AttemptRecord& failed,
                                        const AttemptRecord* next) {
  if (next != nullptr && !next->Reporting().empty()) {
    return next->Most("resumed_step");
  }
  return failed.Most("checkpoint_step");
}

std::optional<std::int64_t> LostSteps(const AttemptRecord& failed,
                                      const AttemptRecord* next) {
  const auto reached = failed.Most("step");
  const auto resumed = ResumedFrom(failed, next);
  if (!reached || !resumed) {
    return std::nullopt;
  }
  return std::max<std::int64_t>(*reached - *resumed, 0);
}

}  // namespace muster::record
