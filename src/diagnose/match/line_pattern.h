// SPDX-License-Identifier: Apache-2.0
// Lines that a user looks for.
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
class LinePattern {
 public:
  // RE2. usage-invalid: it does not compile; `flag` is what it was given by.
  static Result<LinePattern> Make(const std::string& pattern,
                                  std::string_view flag);

  bool IsIn(std::string_view line) const;

 private:
  explicit LinePattern(std::shared_ptr<const re2::RE2> regex);

  std::shared_ptr<const re2::RE2> regex_;
};

}  // namespace muster::diagnose
