// SPDX-License-Identifier: Apache-2.0
// A fact: one observation, with its observer and time.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace muster {

// Wall-clock time of an observation, to be compared within one host only
// unless a clock offset is known.
using WallTime = std::chrono::time_point<std::chrono::system_clock,
                                         std::chrono::microseconds>;

// A field of a fact. Numbers carry their unit in the field's name
// ("after_ms", "size_bytes").
using FactValue = std::variant<bool, std::int64_t, double, std::string>;

// One observation. Findings are based on facts, events.jsonl contains them and
// `explain` reads them; they are values and may be copied between threads.
struct Fact {
  std::string name;                         // "connect.refused", "rank.exited"
  std::map<std::string, FactValue> fields;  // {"errno": "ECONNREFUSED"}
  std::string subject;                      // what it is about: "rank 3"
  std::string by;                           // the observer: "rank 0, tcp probe"
  WallTime at{};                            // when it was observed

  bool operator==(const Fact&) const = default;

  // The field as text; the fallback when it is absent.
  std::string Text(std::string_view field,
                   std::string_view fallback = "") const;
  // The field as a number; the fallback when it is absent or not a number.
  std::int64_t Number(std::string_view field, std::int64_t fallback = 0) const;
  // Whether the field exists.
  bool Has(std::string_view field) const;
};

// "connect.refused errno=ECONNREFUSED after_ms=0.4": one line for a person.
std::string ToString(const Fact& fact);

}  // namespace muster
