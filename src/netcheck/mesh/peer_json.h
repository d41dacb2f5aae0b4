// SPDX-License-Identifier: Apache-2.0
// Reads fields of JSON that a peer sent. For .cc files only.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "muster/deadline.h"

namespace muster::netcheck {

// Remembers the first field that is wrong. What is left out is the fallback;
// what is there has to be right.
class PeerJson {
 public:
  struct Bounds {
    std::int64_t least;
    std::int64_t most;
  };
  explicit PeerJson(const Json& json) : json_(json) {
    if (!json.is_object()) {
      wrong_ = "it";
    }
  }

  std::int64_t Number(const char* name, Bounds bounds,
                      std::int64_t fallback = 0);
  int Rank(const char* name, int fallback = 0) {
    return static_cast<int>(Number(name, {-1, 1'000'000}, fallback));
  }
  std::uint16_t Port() {
    return static_cast<std::uint16_t>(Number("port", {0, 65535}));
  }
  // Of microseconds.
  Duration Time(const char* name) {
    return std::chrono::microseconds(
        Number(name, {-4'000'000'000'000'000, 4'000'000'000'000'000}));
  }
  // Its first 512 bytes.
  std::string Text(const char* name);
  // At most 65,536 elements; or one without elements.
  const Json& List(const char* name);

  void Wrong(const char* name) {
    if (wrong_.empty()) {
      wrong_ = name;
    }
  }
  const std::string& wrong() const { return wrong_; }

 private:
  const Json* Field(const char* name) const;

  const Json& json_;
  std::string wrong_;
};

}  // namespace muster::netcheck
