// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>

#include "explain/derive_parts.h"

namespace muster::explain {
namespace {

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
    auto& of_sequence = ops[fact.Text("seq")];
    of_sequence.insert(fact.Text("op"));
    if (of_sequence.size() > 1) {
      differs = fact;
    }
  }
  return differs;
}

// Ranks that gave up at different places of the sequence in different
// operations.
std::optional<Fact> OtherPlace(const std::vector<Fact>& facts) {
  const Fact* first = nullptr;
  for (const Fact& fact : facts) {
    if (fact.name != "collective.timeout" || fact.Number("rank", -1) < 0) {
      continue;
    }
    if (first == nullptr) {
      first = &fact;
    }
    if (fact.Number("rank", -1) != first->Number("rank", -1) &&
        fact.Text("seq") != first->Text("seq") &&
        fact.Text("op") != first->Text("op")) {
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
        first.emplace(fact.Text("seq") + fact.Text("op"), &fact);
    if (!is_first && at->second->Text("size") != fact.Text("size")) {
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
}

}  // namespace muster::explain
