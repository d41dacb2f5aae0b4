// SPDX-License-Identifier: Apache-2.0
#include "diagnose/derive/derive_collectives.h"

#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/derive/derive_parts.h"

namespace muster::diagnose {
namespace {

// Each process group counts its own collectives.
std::string PlaceOf(const Fact& fact) {
  return fact.Text("group") + "/" + fact.Text("seq");
}

// The last fact of this name that tells another operation than an earlier one
// at the same place of the sequence.
std::optional<Fact> OtherOperation(const std::vector<Fact>& facts,
                                   std::string_view name) {
  std::optional<Fact> differs;
  std::map<std::string, std::set<std::string>> ops;
  for (const Fact& fact : facts) {
    if (fact.name != name) {
      continue;
    }
    auto& of_sequence = ops[PlaceOf(fact)];
    of_sequence.insert(fact.Text("op"));
    if (of_sequence.size() > 1) {
      differs = fact;
    }
  }
  return differs;
}

// Ranks that gave up at different places of a group's sequence in different
// operations.
std::optional<Fact> OtherPlace(const std::vector<Fact>& facts) {
  std::map<std::string, const Fact*> firsts;
  for (const Fact& fact : facts) {
    if (fact.name != "collective.timeout" || fact.Number("rank", -1) < 0) {
      continue;
    }
    const Fact& first =
        *firsts.emplace(fact.Text("group"), &fact).first->second;
    if (fact.Number("rank", -1) != first.Number("rank", -1) &&
        fact.Text("seq") != first.Text("seq") &&
        fact.Text("op") != first.Text("op")) {
      return fact;
    }
  }
  return std::nullopt;
}

// The same operation at the same place with another size on another rank.
std::optional<Fact> OtherSize(const std::vector<Fact>& facts) {
  std::map<std::string, const Fact*> first;
  for (const Fact& fact : facts) {
    if (fact.name != "collective.timeout" || !fact.Has("size")) {
      continue;
    }
    const auto [at, is_first] =
        first.emplace(PlaceOf(fact) + fact.Text("op"), &fact);
    if (!is_first && at->second->Text("size") != fact.Text("size")) {
      return fact;
    }
  }
  return std::nullopt;
}

// A fact of this name whose field is another one than an earlier one's of
// another member, where both tell the same of themselves.
std::optional<Fact> OtherOfMember(const std::vector<Fact>& facts,
                                  std::string_view name,
                                  std::string_view field) {
  std::map<std::string, const Fact*> first;
  for (const Fact& fact : facts) {
    if (fact.name != name) {
      continue;
    }
    const auto [at, is_first] = first.emplace(fact.Text("op"), &fact);
    if (!is_first && at->second->Text("member") != fact.Text("member") &&
        Trim(at->second->Text(field)) != Trim(fact.Text(field))) {
      Fact other = fact;
      other.fields.erase("level");  // each is a note, the difference is none
      return other;
    }
  }
  return std::nullopt;
}

// A barrier (the reduction of one element) that is among the first collectives,
// though not the first, and outlived a bound of ten minutes or more: the
// network carries, and somebody prepares something before the first step.
std::optional<Fact> EarlyBarrier(const std::vector<Fact>& facts) {
  constexpr std::int64_t kEarly = 10;
  constexpr std::int64_t kTenMinutes = 600'000;
  for (const Fact& fact : facts) {
    const auto seq = NumberIn(fact, "seq");
    if (fact.name == "collective.timeout" && fact.Text("size") == "1" &&
        fact.Text("op") == "ALLREDUCE" && seq > 1 && seq <= kEarly &&
        NumberIn(fact, "limit") >= kTenMinutes) {
      return fact;
    }
  }
  return std::nullopt;
}

// Ranks whose tracebacks end in different collectives.
std::optional<Fact> OtherFrame(const std::vector<Fact>& facts) {
  std::map<std::int64_t, const Fact*> first;
  for (const Fact& fact : facts) {
    const std::int64_t rank = fact.Number("rank", -1);
    if (fact.name == "collective.frame" && rank >= 0) {
      first.emplace(rank, &fact);
    }
  }
  for (const auto& [rank, fact] : first) {
    if (fact->Text("op") != first.begin()->second->Text("op")) {
      return *fact;
    }
  }
  return std::nullopt;
}

}  // namespace

// What each rank was in when it gave up: other operations at the same place
// mean that the ranks do not do the same.
void CompareCollectives(std::vector<Fact>& facts) {
  auto differs = OtherOperation(facts, "collective.timeout");
  for (const Fact& fact : facts) {
    if (fact.name == "collective.op_pair" &&
        fact.Text("op") != fact.Text("other")) {
      differs = fact;
    }
  }
  if (!differs) {
    differs = OtherOperation(facts, "collective.op");
  }
  if (!differs) {
    differs = OtherFrame(facts);
  }
  if (!differs) {
    differs = OtherPlace(facts);
  }
  if (differs) {
    AddOn(facts, *differs, "collective.ops_differ");
  }
  if (const auto size = OtherSize(facts)) {
    AddOn(facts, *size, "collective.sizes_differ");
  }
  if (const auto shape =
          OtherOfMember(facts, "collective.reported_shape", "shape")) {
    AddOn(facts, *shape, "numbers.shapes_differ");
  }
  if (const auto count = OtherOfMember(facts, "batches.reported", "count")) {
    AddOn(facts, *count, "numbers.batches_differ");
  }
  if (const auto barrier = EarlyBarrier(facts)) {
    AddOn(facts, *barrier, "numbers.early_barrier");
  }
}

}  // namespace muster::diagnose
