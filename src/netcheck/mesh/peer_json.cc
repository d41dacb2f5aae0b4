// SPDX-License-Identifier: Apache-2.0
#include "netcheck/mesh/peer_json.h"

#include <algorithm>

#include "base/json_fields.h"

namespace muster::netcheck {
namespace {

constexpr std::size_t kMaxElements = 1U << 16;
constexpr std::size_t kMaxText = 512;
constexpr std::int64_t kMaxRank = 1'000'000;

}  // namespace

Json JsonOfFrame(std::string_view body) {
  return ParseJson(body, Cause::kNetWrongEndpoint, "a frame").value_or(Json());
}

std::string BoundedText(const Json& text) {
  const auto& all = text.get_ref<const std::string&>();
  std::size_t end = std::min(all.size(), kMaxText);
  while (end < all.size() &&
         (static_cast<unsigned char>(all[end]) & 0xC0U) == 0x80) {
    --end;  // within a character
  }
  return all.substr(0, end);
}

std::optional<int> RankOf(const Json& value) {
  const auto rank = IntegerOf(value);
  return rank && *rank >= -1 && *rank <= kMaxRank
             ? std::optional(static_cast<int>(*rank))
             : std::nullopt;
}

const Json* PeerJson::Field(const char* name) const {
  if (!json_.is_object()) {
    return nullptr;
  }
  const auto at = json_.find(name);
  return at == json_.end() ? nullptr : &*at;
}

std::int64_t PeerJson::Number(const char* name, Bounds bounds,
                              std::int64_t fallback) {
  const auto* field = Field(name);
  if (field == nullptr) {
    return fallback;
  }
  const auto number = IntegerOf(*field);
  if (!number || *number < bounds.least || *number > bounds.most) {
    Wrong(name);
    return fallback;
  }
  return *number;
}

std::string PeerJson::Text(const char* name) {
  const auto* field = Field(name);
  if (field == nullptr) {
    return "";
  }
  if (!field->is_string()) {
    Wrong(name);
    return "";
  }
  return BoundedText(*field);
}

const Json& PeerJson::List(const char* name) {
  static const Json none = Json::array();
  const auto* field = Field(name);
  if (field == nullptr) {
    return none;
  }
  if (!field->is_array() || field->size() > kMaxElements) {
    Wrong(name);
    return none;
  }
  return *field;
}

}  // namespace muster::netcheck
