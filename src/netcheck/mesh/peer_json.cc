// SPDX-License-Identifier: Apache-2.0
#include "netcheck/mesh/peer_json.h"

namespace muster::netcheck {
namespace {

constexpr std::size_t kMostElements = 1U << 16;
constexpr std::size_t kMostText = 512;

}  // namespace

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
  if (!field->is_number_integer() ||
      field->get<std::int64_t>() < bounds.least ||
      field->get<std::int64_t>() > bounds.most) {
    Wrong(name);
    return fallback;
  }
  return field->get<std::int64_t>();
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
  return field->get<std::string>().substr(0, kMostText);
}

const Json& PeerJson::List(const char* name) {
  static const Json none = Json::array();
  const auto* field = Field(name);
  if (field == nullptr) {
    return none;
  }
  if (!field->is_array() || field->size() > kMostElements) {
    Wrong(name);
    return none;
  }
  return *field;
}

}  // namespace muster::netcheck
