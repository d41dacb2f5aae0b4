// SPDX-License-Identifier: Apache-2.0
#include "sys/terminal/confirm.h"

#include "base/text.h"
#include "sys/net/stream.h"
#include "sys/terminal/read_line.h"
#include "sys/terminal/results.h"

namespace muster::sys {
namespace {

constexpr std::chrono::minutes kConfirmTimeout{10};
constexpr std::size_t kLongest = 100;

}  // namespace

std::optional<bool> AskPerson(const std::string& question) {
  if (!IsTerminal(0) || !IsTerminal(2)) {
    return std::nullopt;
  }
  PrintAside(question + " [y/N] ");
  const auto answer = ReadLine(0, kLongest, Deadline::After(kConfirmTimeout));
  const std::string_view word = answer ? Trim(*answer) : "";
  return word == "y" || word == "Y" || word == "yes";
}

}  // namespace muster::sys
