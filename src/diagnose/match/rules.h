// SPDX-License-Identifier: Apache-2.0
// What leads from facts to causes: generated from causes/, constant data.
#pragma once

#include <span>
#include <string_view>

#include "muster/cause.h"

namespace muster::diagnose {

// How much a rule proves. kDirect: who says it knows it. kPattern: what this
// cause looks like. kWeak: mostly this cause. kHint: one of several.
enum class RuleWeight { kHint, kWeak, kPattern, kDirect };

// A fact of this name, with this value in the field if one is named.
struct Condition {
  std::string_view fact;
  std::string_view field;
  std::string_view value;
};

struct Rule {
  Cause cause;
  RuleWeight weight;
  std::span<const Condition> with;     // all; the first is the evidence
  std::span<const Condition> without;  // none
};

struct CauseMeta {
  // Wider causes and consequences, which this one explains.
  std::span<const Cause> over;
  std::string_view decide;  // the observation that tells it from its neighbors
  std::string_view command;
  bool lasting;  // what the program prints after it proves nothing
};

std::span<const Rule> CatalogueRules();
const CauseMeta& CauseMetaOf(Cause cause);
// Logs and descriptions of failures that had this cause.
std::string_view KnownTextsOf(Cause cause);

}  // namespace muster::diagnose
