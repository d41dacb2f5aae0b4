// SPDX-License-Identifier: Apache-2.0
// What the parts of Derive() share: facts by name, numbers of them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/fact.h"

namespace muster::diagnose {

// The first fact of this name, or null.
const Fact* FirstOf(const std::vector<Fact>& facts, std::string_view name);
// The line at which the fact was told for the last time.
std::int64_t LastLine(const Fact& fact);
// The number that the field tells, or 0; what is beyond 10^12 counts nothing.
std::int64_t NumberIn(const Fact& fact, std::string_view field);
std::optional<std::int64_t> NumberOf(const std::vector<Fact>& facts,
                                     std::string_view name,
                                     std::string_view field);
// Appends a fact that rests on another one: same place, other name.
void AddOn(std::vector<Fact>& facts, const Fact& on, std::string name);
// "16.50 GiB", "385.25M", "6291456", "4.82".
double BytesOf(std::string_view text);

}  // namespace muster::diagnose
