// SPDX-License-Identifier: Apache-2.0
#include "program/graph/constants.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace muster::program::graph {
namespace {

// More steps than this are not taken for all values of a step together.
constexpr std::size_t kMostLooks = 1'000'000;

template <std::size_t kCount>
bool IsOne(const std::array<std::string_view, kCount>& names,
           std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// They give sizes, which are known where shapes are.
bool GivesSizes(std::string_view operation) {
  constexpr std::array<std::string_view, 6> kNames{
      "Rank", "Shape", "ShapeN", "Size", "TensorListLength", "VariableShape"};
  return IsOne(kNames, operation);
}

bool ReadsVariable(std::string_view operation) {
  constexpr std::array<std::string_view, 4> kNames{
      "ReadVariableOp", "ResourceGather", "Variable", "VariableV2"};
  return IsOne(kNames, operation);
}

bool IsInput(std::string_view operation) {
  constexpr std::array<std::string_view, 4> kNames{
      "Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "_Arg"};
  return IsOne(kNames, operation);
}

// Where the arguments of its function begin among its inputs; nullopt: they
// change from run to run of the function, or it is no call.
std::optional<std::size_t> FirstArgument(std::string_view operation) {
  constexpr std::array<std::string_view, 2> kCalls{"PartitionedCall",
                                                   "StatefulPartitionedCall"};
  constexpr std::array<std::string_view, 4> kBranches{"If", "StatelessIf",
                                                      "Case", "StatelessCase"};
  if (IsOne(kCalls, operation)) {
    return 0;
  }
  return IsOne(kBranches, operation) ? std::optional<std::size_t>(1)
                                     : std::nullopt;
}

// What ends a trace at a node; nullopt: its inputs decide.
std::optional<Source> OriginOf(const Node& node) {
  const Operation* known = FindOperation(node.op);
  if (node.op == "Const" || GivesSizes(node.op)) {
    return Source{};
  }
  if (ReadsVariable(node.op)) {
    return Source{.origin = Origin::kVariable, .name = node.name};
  }
  if (IsInput(node.op)) {
    return Source{.origin = Origin::kArgument, .name = node.name};
  }
  if (known != nullptr && IsRandom(*known)) {
    return Source{.origin = Origin::kRandom, .name = node.name};
  }
  const bool calls = std::any_of(
      node.attributes.begin(), node.attributes.end(),
      [](const Attribute& one) { return !FunctionsIn(one.value).empty(); });
  if (known == nullptr || known->Is("dynamic") || calls) {
    return Source{.origin = Origin::kUnclear, .name = node.name};
  }
  return std::nullopt;
}

}  // namespace

const NodeIndex& Constants::IndexOf(int scope) {
  const auto known = indices_.find(scope);
  if (known != indices_.end()) {
    return known->second;
  }
  const Function* function =
      step_.scopes[static_cast<std::size_t>(scope)].function;
  return indices_[scope] = graph::IndexOf(
             function != nullptr ? function->nodes : step_.start.graph->nodes);
}

const Node* Constants::Find(int scope, std::string_view input) {
  const NodeIndex& index = IndexOf(scope);
  const auto at = index.find(NodeOfInput(input));
  return at == index.end() ? nullptr : at->second;
}

Constants::Folded Constants::FirstLook(const Node& node) {
  if (node.op == "Const") {
    return Folded::kYes;
  }
  const Operation* known = FindOperation(node.op);
  const bool may =
      known != nullptr && !known->Is("stateful") && !node.inputs.empty();
  return may ? Folded::kWaits : Folded::kNo;
}

// Twice at each node: before its inputs and behind them. One that waits for its
// own inputs is in a cycle, and no constant.
bool Constants::IsFolded(int scope, const Node& node) {
  std::vector<const Node*> open{&node};
  while (!open.empty()) {
    const Node& at = *open.back();
    const auto [entry, fresh] = folded_.try_emplace(&at, FirstLook(at));
    if (entry->second != Folded::kWaits) {
      open.pop_back();
      continue;
    }
    bool all = true;
    const std::size_t before = open.size();
    for (const std::string_view input : at.inputs) {
      const Node* from = input.starts_with('^') ? nullptr : Find(scope, input);
      const auto known = folded_.find(from);
      if (fresh && from != nullptr && known == folded_.end()) {
        open.push_back(from);
      }
      all = all && known != folded_.end() && known->second == Folded::kYes;
    }
    if (open.size() == before) {
      folded_[&at] = all ? Folded::kYes : Folded::kNo;
      open.pop_back();
    }
  }
  return folded_.at(&node) == Folded::kYes;
}

Constants::Passed Constants::PassedTo(int scope,
                                      std::string_view argument) const {
  const Scope& at = step_.scopes[static_cast<std::size_t>(scope)];
  if (at.function == nullptr || at.parent < 0) {
    return {.own = at.function != nullptr};
  }
  const auto first = FirstArgument(at.call->op);
  const auto& inputs = at.function->inputs;
  const auto found =
      std::find_if(inputs.begin(), inputs.end(),
                   [&](const Tensor& one) { return one.name == argument; });
  if (!first || found == inputs.end()) {
    return {};
  }
  const std::size_t place =
      *first + static_cast<std::size_t>(found - inputs.begin());
  return place < at.call->inputs.size()
             ? Passed{.scope = at.parent, .input = at.call->inputs[place]}
             : Passed{};
}

Source Constants::Trace(int scope, std::string_view input) {
  Source worst;
  std::vector<std::pair<int, std::string_view>> open{{scope, input}};
  std::set<std::pair<int, std::string_view>> seen;
  while (!open.empty()) {
    const auto [in, name] = open.back();
    open.pop_back();
    if (name.starts_with('^') || !seen.insert({in, NodeOfInput(name)}).second) {
      continue;
    }
    if (++looked_at_ > kMostLooks) {
      return {.origin = Origin::kUnclear};
    }
    std::optional<Source> origin;
    if (const Node* node = Find(in, name)) {
      origin = OriginOf(*node);
      for (std::size_t i = 0; !origin && i < node->inputs.size(); ++i) {
        open.emplace_back(in, node->inputs[i]);
      }
    } else if (const Passed passed = PassedTo(in, NodeOfInput(name));
               passed.scope >= 0) {
      open.emplace_back(passed.scope, passed.input);
    } else {
      origin =
          Source{.origin = passed.own ? Origin::kArgument : Origin::kUnclear,
                 .name = NodeOfInput(name)};
    }
    if (origin && origin->origin > worst.origin) {
      worst = *origin;
    }
  }
  return worst;
}

}  // namespace muster::program::graph
