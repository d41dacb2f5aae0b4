// SPDX-License-Identifier: Apache-2.0
#include "base/command_text.h"

#include <algorithm>

namespace muster {

std::string ShellWord(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "-_./:=+,@%^";
  if (!word.empty() &&
      word.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string CommandLine(std::span<const std::string> argv) {
  std::string line;
  for (const std::string& word : argv) {
    line += (line.empty() ? "" : " ") + ShellWord(word);
  }
  return line;
}

}  // namespace muster
