// SPDX-License-Identifier: Apache-2.0
// A text that is never printed.
#pragma once

#include <string>
#include <utility>

namespace muster {

// A token, key or password. It has no conversion and no operator <<, so that a
// message cannot hold it by accident. A value; any thread.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}

  bool empty() const { return text_.empty(); }
  // For the header, the body or the signature that needs it.
  const std::string& Reveal() const { return text_; }

 private:
  std::string text_;
};

}  // namespace muster
