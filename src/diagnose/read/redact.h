// SPDX-License-Identifier: Apache-2.0
// Takes secrets out of text before it is shown or packed.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace muster::diagnose {

// The text with tokens, keys, passwords and signed parts of addresses replaced
// by "[removed: kind]". `removed` counts by kind, if given.
std::string Redacted(std::string_view text,
                     std::map<std::string, int>* removed = nullptr);

// Of text that comes line by line: a key of several lines goes as a whole. One
// without an end goes as far as its lines may be of a key.
class Redactor {
 public:
  // A new text begins: a key that the one before left open is over.
  void Begin();
  // Without its end.
  std::string Line(std::string_view line);
  // Kind -> how often, of all texts.
  const std::map<std::string, int>& removed() const { return removed_; }

 private:
  bool in_key_ = false;
  std::size_t key_column_ = 0;
  int key_lines_ = 0;
  std::map<std::string, int> removed_;
};

// True for variables that may be shown and packed; all others are left out.
bool VariableIsPublic(std::string_view name);

}  // namespace muster::diagnose
