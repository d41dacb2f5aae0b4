// SPDX-License-Identifier: Apache-2.0
// Reads fields of JSON that a peer sent. For .cc files only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "muster/deadline.h"

namespace muster::netcheck {

// Of a time: more than a century, and in nanoseconds still a word.
inline constexpr std::int64_t kMaxMicros = 4'000'000'000'000'000;

// The body of a frame, of bounded depth; null, which no reader takes: it is no
// JSON.
Json JsonOfFrame(std::string_view body);
// Its first 512 bytes, or up to three fewer: what is cut is still UTF-8.
std::string BoundedText(const Json& text);
// Of a member, or -1; nullopt: it is no such number.
std::optional<int> RankOf(const Json& value);

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
    return std::chrono::microseconds(Number(name, {-kMaxMicros, kMaxMicros}));
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
