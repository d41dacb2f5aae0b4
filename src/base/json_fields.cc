// SPDX-License-Identifier: Apache-2.0
#include "base/json_fields.h"

#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace muster {

std::optional<std::int64_t> IntegerOf(const Json& value) {
  const bool fits =
      value.is_number_unsigned()
          ? std::in_range<std::int64_t>(value.get<std::uint64_t>())
          : value.is_number_integer();
  return fits ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

std::string TextOf(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found != json.end() && found->is_string() ? found->get<std::string>()
                                                   : "";
}

std::optional<int> NumberOf(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  std::optional<std::int64_t> number;
  if (found != json.end() && found->is_number()) {
    number = IntegerOf(*found);
  } else if (found != json.end() && found->is_string()) {
    number = ParseInt(found->get<std::string>());
  }
  const bool fits =
      number && *number >= -1'000'000'000 && *number <= 1'000'000'000;
  return fits ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

const Json& At(const Json& json, std::initializer_list<const char*> keys) {
  static const Json* const nothing = new Json(Json::object());
  const Json* at = &json;
  for (const char* key : keys) {
    if (!at->is_object()) {
      return *nothing;
    }
    const auto found = at->find(key);
    if (found == at->end()) {
      return *nothing;
    }
    at = &*found;
  }
  return *at;
}

const Json& ListOf(const Json& json, const char* key) {
  static const Json* const nothing = new Json(Json::array());
  const Json& list = At(json, {key});
  return list.is_array() ? list : *nothing;
}

}  // namespace muster
