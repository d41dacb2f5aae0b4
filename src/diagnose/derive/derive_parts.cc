// SPDX-License-Identifier: Apache-2.0
#include "diagnose/derive/derive_parts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace muster::diagnose {

std::int64_t LastLine(const Fact& fact) {
  return fact.Number("last_line", fact.Number("line", 0));
}

const Fact* FirstOf(const std::vector<Fact>& facts, std::string_view name) {
  const auto found =
      std::find_if(facts.begin(), facts.end(),
                   [&](const Fact& fact) { return fact.name == name; });
  return found == facts.end() ? nullptr : &*found;
}

std::int64_t NumberIn(const Fact& fact, std::string_view field) {
  constexpr std::int64_t kMaxCount = 1'000'000'000'000;
  const std::int64_t number = ParseInt(fact.Text(field)).value_or(0);
  return number > kMaxCount || number < -kMaxCount ? 0 : number;
}

std::optional<std::int64_t> NumberOf(const std::vector<Fact>& facts,
                                     std::string_view name,
                                     std::string_view field) {
  const Fact* const fact = FirstOf(facts, name);
  return fact == nullptr ? std::nullopt : ParseInt(fact->Text(field));
}

void AddOn(std::vector<Fact>& facts, const Fact& on, std::string name) {
  Fact fact = on;
  fact.name = std::move(name);
  facts.push_back(std::move(fact));
}

double BytesOf(std::string_view text) {
  double value = 0;
  std::size_t at = 0;
  double scale = 1;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c >= '0' && c <= '9') {
      value = scale == 1 ? value * 10 + (c - '0') : value + (c - '0') * scale;
      scale = scale == 1 ? 1 : scale / 10;
    } else if (c == '.' && scale == 1) {
      scale = 0.1;
    } else if (c != ',') {
      break;
    }
  }
  while (at < text.size() && text[at] == ' ') {
    ++at;
  }
  const std::string_view units = "BKMGT";
  const auto unit = at < text.size()
                        ? units.find(static_cast<char>(
                              text[at] >= 'a' ? text[at] - 32 : text[at]))
                        : std::string_view::npos;
  return unit == std::string_view::npos
             ? value
             : value * std::pow(1024.0, static_cast<double>(unit));
}

}  // namespace muster::diagnose
