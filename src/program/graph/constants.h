// SPDX-License-Identifier: Apache-2.0
// What is known of a value before the program runs: whether it is constant, and
// what it depends on.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <unordered_map>

#include "program/graph/step.h"

namespace muster::program::graph {

// What a value that must be known at compile time depends on, the worst of it.
enum class Origin { kKnown, kUnclear, kArgument, kVariable, kRandom };

struct Source {
  Origin origin = Origin::kKnown;
  std::string_view name;  // of the argument, variable or operation
};

// Looks at the scopes of one step, which outlives it. One thread.
class Constants {
 public:
  explicit Constants(const Step& step) : step_(step) {}

  // Made of constants alone, so that it is computed before the program is
  // compiled: neither its kernel nor its types matter.
  bool IsFolded(int scope, const Node& node);

  // Follows a value to where it is from, through functions that are called with
  // it. What depends on sizes alone is known. Not followed: what branches and
  // loops give.
  Source Trace(int scope, std::string_view input);

 private:
  enum class Folded { kWaits, kNo, kYes };
  static Folded FirstLook(const Node& node);
  const NodeIndex& IndexOf(int scope);
  const Node* Find(int scope, std::string_view input);
  // The input of the call that an argument of a function stands for; empty:
  // the step's own argument, or one that is not followed.
  struct Passed {
    bool own = false;
    int scope = -1;
    std::string_view input;
  };
  Passed PassedTo(int scope, std::string_view argument) const;

  const Step& step_;
  std::map<int, NodeIndex> indices_;
  std::unordered_map<const Node*, Folded> folded_;
  std::size_t looked_at_ = 0;  // by Trace; bounded for the whole step
};

}  // namespace muster::program::graph
