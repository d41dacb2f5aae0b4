// SPDX-License-Identifier: Apache-2.0
#include "muster/fact.h"

#include "base/json.h"
#include "base/text.h"

namespace muster {
namespace {

const FactValue* Find(const Fact& fact, std::string_view field) {
  auto found = fact.fields.find(std::string(field));
  return found == fact.fields.end() ? nullptr : &found->second;
}

Json ValueToJson(const FactValue& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

}  // namespace

std::string Fact::Text(std::string_view field,
                       std::string_view fallback) const {
  const FactValue* value = Find(*this, field);
  if (value == nullptr) {
    return std::string(fallback);
  }
  if (const auto* text = std::get_if<std::string>(value)) {
    return *text;
  }
  return Dump(ValueToJson(*value));
}

std::int64_t Fact::Number(std::string_view field, std::int64_t fallback) const {
  const FactValue* value = Find(*this, field);
  if (value == nullptr) {
    return fallback;
  }
  if (const auto* number = std::get_if<std::int64_t>(value)) {
    return *number;
  }
  if (const auto* real = std::get_if<double>(value)) {
    return static_cast<std::int64_t>(*real);
  }
  return fallback;
}

bool Fact::Has(std::string_view field) const {
  return Find(*this, field) != nullptr;
}

std::string ToString(const Fact& fact) {
  std::string text = fact.name;
  for (const auto& [name, value] : fact.fields) {
    text += " " + name + "=";
    const auto* plain = std::get_if<std::string>(&value);
    text += plain != nullptr ? Printable(*plain) : Dump(ValueToJson(value));
  }
  return text;
}

}  // namespace muster
