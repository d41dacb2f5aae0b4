// SPDX-License-Identifier: Apache-2.0
// Takes secrets out of text before it is shown or packed.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace muster::evidence {

// The text with tokens, keys, passwords and signed parts of addresses replaced
// by "[removed: kind]". `removed` counts by kind, if given.
std::string Redacted(std::string_view text,
                     std::map<std::string, int>* removed = nullptr);

// Of text that comes line by line: a key of several lines goes as a whole.
class Redactor {
 public:
  // Without its end.
  std::string Line(std::string_view line);
  // Kind -> how often.
  const std::map<std::string, int>& removed() const { return removed_; }

 private:
  bool in_key_ = false;
  std::map<std::string, int> removed_;
};

// True for variables that may be shown and packed; all others are left out.
bool VariableIsPublic(std::string_view name);

}  // namespace muster::evidence
