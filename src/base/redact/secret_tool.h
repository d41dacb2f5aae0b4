// SPDX-License-Identifier: Apache-2.0
// Commands of which an option of one letter, or a word, is a secret.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/redact/secret_form.h"

namespace muster {

struct SecretTool {
  std::string_view name;
  std::string_view verb;     // a word that has to come first
  std::string_view options;  // parted by blanks; empty: a long word is it
  bool joined = false;       // "-pX" only
  bool user = false;         // "USER:X"
};
std::span<const SecretTool> SecretTools();

// In the command whose name stands at `at`.
std::vector<FoundSecret> SecretsOfTool(std::string_view text, std::size_t at,
                                       const SecretTool& tool);

}  // namespace muster
