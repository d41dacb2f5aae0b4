// SPDX-License-Identifier: Apache-2.0
#include "cloud/api/timestamp.h"

#include <algorithm>

#include "base/json_fwd.h"

namespace muster::cloud {

std::optional<WallTime> ParseTimestamp(const std::string& text) {
  const auto dot = text.find('.');
  const auto z = text.find('Z');
  if (z == std::string::npos || z + 1 != text.size()) {
    return std::nullopt;
  }
  std::string digits =
      dot == std::string::npos ? "" : text.substr(dot + 1, z - dot - 1);
  digits.resize(6, '0');
  const std::string whole =
      text.substr(0, std::min(dot, z)) + "." + digits + "Z";
  const auto time = ParseWallTime(whole);
  return time ? std::optional(*time) : std::nullopt;
}

}  // namespace muster::cloud
