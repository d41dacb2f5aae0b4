// SPDX-License-Identifier: Apache-2.0
// Ranks as somebody's own names and lines tell them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "muster/error.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace muster::diagnose {

// Any thread.
class RankPattern {
 public:
  // RE2 with a group that is the rank: "worker-(\d+)". usage-invalid: it does
  // not compile, or it has no group.
  static Result<RankPattern> Make(const std::string& pattern);

  // -1: the text does not say.
  int RankOf(std::string_view text) const;

 private:
  explicit RankPattern(std::shared_ptr<const re2::RE2> regex);

  std::shared_ptr<const re2::RE2> regex_;
};

}  // namespace muster::diagnose
