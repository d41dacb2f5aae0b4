// SPDX-License-Identifier: Apache-2.0
// The facts of a run, sorted by what they are about: what the report and the
// judgement of the training read. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/fact.h"

namespace muster::record {

// One attempt. What did not happen is absent.
struct AttemptRecord {
  std::optional<Fact> called, gathered, launched, first_step, flat_loss, failed,
      stopped, decided;
  std::map<int, Fact> started, exited;  // by rank

  // Exits of ranks that reported steps.
  std::vector<const Fact*> Reporting() const;
  // Mean and maximum over them; 0 and nullopt without any.
  double Mean(std::string_view field) const;
  std::optional<std::int64_t> Most(std::string_view field) const;
};

struct RunRecord {
  std::optional<Fact> started, ended;
  std::map<int, AttemptRecord> attempts;
  std::vector<Fact> notes, findings;
  std::map<std::string, Fact> containment;  // the newest, by host

  // nullptr: it was the last.
  const AttemptRecord* Next(int attempt) const;
  // The newest attempt in which steps were done; nullptr: none.
  const AttemptRecord* Trained() const;
};

RunRecord ReadRecord(std::span<const Fact> facts);

// A field as a number, whole or not; 0 when it is none.
double Decimal(const Fact& fact, std::string_view field);

// Where the attempt after a failed one went on; without one, where it could.
std::optional<std::int64_t> ResumedFrom(const AttemptRecord& failed,
                                        const AttemptRecord* next);
// Steps that a failure cost; nullopt: none were reported.
std::optional<std::int64_t> LostSteps(const AttemptRecord& failed,
                                      const AttemptRecord* next);

}  // namespace muster::record
