// SPDX-License-Identifier: Apache-2.0
#include "cli/line/verb.h"

#include <algorithm>

#include "base/text.h"

namespace muster::cli {

std::string Flag::name() const {
  const auto space = names.rfind(' ');
  return space == std::string::npos ? names : names.substr(space + 1);
}

bool Flag::Is(std::string_view spelling) const {
  return spelling == name() || spelling == also ||
         (names.size() > spelling.size() && names.starts_with(spelling) &&
          names[spelling.size()] == ',');
}

unsigned Flag::values() const {
  if (value == "DIR" || value == "FOLDER") {
    return kFolders;
  }
  return value == "FILE" || value == "PATH" ? kFiles | kFolders : kNothing;
}

std::string Verb::Typed() const {
  return path.empty() ? "muster" : "muster " + path;
}

std::string Verb::LastWord() const {
  const auto space = path.rfind(' ');
  return space == std::string::npos ? path : path.substr(space + 1);
}

bool Verb::IsBelow(const Verb& group) const {
  const auto space = path.rfind(' ');
  return !path.empty() &&
         (space == std::string::npos ? "" : path.substr(0, space)) ==
             group.path;
}

const Flag* Verb::Find(std::string_view spelling) const {
  for (const FlagGroup& group : groups) {
    for (const Flag& flag : group.flags) {
      if (flag.Is(spelling)) {
        return &flag;
      }
    }
  }
  return nullptr;
}

const Verb* FindVerb(std::string_view path) {
  const auto& verbs = Verbs();
  const auto found =
      std::find_if(verbs.begin(), verbs.end(),
                   [&](const Verb& verb) { return verb.path == path; });
  return found == verbs.end() ? nullptr : &*found;
}

std::vector<const Verb*> Below(const Verb& group) {
  std::vector<const Verb*> found;
  for (const Verb& verb : Verbs()) {
    if (verb.IsBelow(group) && !verb.hidden) {
      found.push_back(&verb);
    }
  }
  return found;
}

Error Usage(const std::string& message) {
  return Error(Cause::kUsageInvalid, message);
}

Result<int> WholeNumber(const Flag& flag, const std::string& text) {
  constexpr int kMaxNumber = 1'000'000;
  const auto number = ParseInt(text);
  if (!number || *number < 0 || *number > kMaxNumber) {
    return Usage("flag " + flag.name() + " is `" + Printable(text) +
                 "`, expected a whole number");
  }
  return static_cast<int>(*number);
}

}  // namespace muster::cli
