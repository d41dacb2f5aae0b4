// SPDX-License-Identifier: Apache-2.0
// Which value belongs to a name: behind '=' or ':', in the next word, element
// or line.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/redact/secret_value.h"

namespace muster {

enum class Assigned {
  kEquals,   // =, =>, :=, <name>value<, ("name", "value"), name: … value: …
  kColon,    // as in a sentence
  kElement,  // "name", "value" of a list
  kBlank,    // name value
};

struct NamePlace {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct AssignedValue {
  Assigned how = Assigned::kBlank;
  ValuePlace value;  // of a long one the beginning
  bool quoted_name = false;
  bool cut = false;
  std::size_t at = 0;  // where it was read, and within what
  ValueBounds bounds = ValueBounds::kNone;
};

// The name around what stands at `at`.
NamePlace NameAround(std::string_view text, std::size_t at);
std::optional<AssignedValue> ValueOfName(std::string_view text, NamePlace name);
// Of the whole value.
std::size_t EndOfValue(std::string_view text, const AssignedValue& found);

}  // namespace muster
