// SPDX-License-Identifier: Apache-2.0
#include "cli/flags.h"

#include "base/text.h"

namespace muster::cli {

std::string Meant(const std::string& word,
                  const std::vector<std::string>& known) {
  const auto meant = DidYouMean(word, known);
  return meant ? ", did you mean `" + *meant + "`?" : "";
}

bool IsGiven(const CLI::App& app, const char* flag) {
  const auto* option = app.get_option_no_throw(flag);
  return option != nullptr && option->count() > 0;
}

std::optional<std::string> Given(const CLI::App& app, const char* flag,
                                 const std::string& text) {
  return IsGiven(app, flag) ? std::optional(text) : std::nullopt;
}

Result<std::optional<int>> Number(const CLI::App& app, const char* flag,
                                  const std::string& text) {
  const auto given = Given(app, flag, text);
  if (!given) {
    return std::optional<int>();
  }
  const auto number = ParseInt(*given);
  if (!number || *number < 0 || *number > 1'000'000) {
    return Usage("flag " + std::string(flag) + " is `" + Printable(*given) +
                 "`, expected a whole number");
  }
  return std::optional<int>(static_cast<int>(*number));
}

}  // namespace muster::cli
