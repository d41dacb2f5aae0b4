// SPDX-License-Identifier: Apache-2.0
#include "accelerator/specs.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "base/words/suggest.h"

namespace muster::accelerator {
namespace {

constexpr int kMaxDevices = 100'000;

// "a100" is the beginning of two names.
std::string Meant(std::string_view text,
                  const std::vector<std::string>& names) {
  const std::string word =
      Lower(text.substr(0, std::min<std::size_t>(text.find(':'), 40)));
  std::vector<std::string> meant;
  for (const std::string& name : names) {
    if (!word.empty() && name.starts_with(word + "-")) {
      meant.push_back("`" + name + "`");
    }
  }
  if (const auto near = DidYouMean(word, names); meant.empty() && near) {
    meant.push_back("`" + *near + "`");
  }
  return meant.empty() ? "" : ", did you mean " + Join(meant, " or ") + "?";
}

Error Unknown(std::string_view text) {
  std::vector<std::string> names;
  names.reserve(AllSpecs().size());
  for (const Specs& one : AllSpecs()) {
    names.emplace_back(one.name);
  }
  return Error(Cause::kUsageInvalid,
               "flag --on is `" + Printable(text) +
                   "`, expected an accelerator and a count or topology, such "
                   "as v5e-8, v5p:2x2x1 or h100:8: one of " +
                   Join(names, ", ") + ", or here" + Meant(text, names));
}

// Chips of "2x2x1", or devices of "8".
std::optional<int> CountOf(std::string_view text, bool shape) {
  std::int64_t product = text.empty() ? kMaxDevices + 1 : 1;
  for (const std::string& side : Split(text, shape ? 'x' : '\n')) {
    const auto number = IsDigits(side) ? ParseInt(side) : std::nullopt;
    if (!number || *number < 1 || *number > kMaxDevices) {
      return std::nullopt;
    }
    product = std::min<std::int64_t>(product * *number, kMaxDevices + 1);
  }
  return product <= kMaxDevices ? std::optional(static_cast<int>(product))
                                : std::nullopt;
}

bool IsPartOfAWord(char c) {
  return IsDigits({&c, 1}) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// "A10" is in "NVIDIA A10" and not in "NVIDIA A100".
bool HasWords(std::string_view text, std::string_view words) {
  const auto at = text.find(words);
  const auto end = at + words.size();
  return at != std::string_view::npos &&
         (at == 0 || !IsPartOfAWord(text[at - 1])) &&
         (end == text.size() || !IsPartOfAWord(text[end]));
}

}  // namespace

Result<TargetDevices> ParseTargetDevices(std::string_view text) {
  if (const Specs* whole = FindSpecs(Lower(text))) {
    return TargetDevices{.specs = whole, .count = 1};
  }
  const auto at = text.find_last_of(":-");
  const Specs* specs = at == std::string_view::npos
                           ? nullptr
                           : FindSpecs(Lower(text.substr(0, at)));
  if (specs == nullptr || (text[at] == '-' && !specs->tpu)) {
    return Unknown(text);
  }
  const bool shape = text[at] == ':' && specs->tpu;
  const auto count = CountOf(text.substr(at + 1), shape);
  if (!count) {
    return Unknown(text);
  }
  // The 8 of "v4-8" are cores, the 2x2 of "v3:2x2" chips.
  const int devices = *count * specs->devices_per_chip /
                      (specs->tpu && !shape ? specs->tpu->cores_per_chip : 1);
  if (devices < 1) {
    return Unknown(text);
  }
  return TargetDevices{.specs = specs, .count = devices};
}

const Specs* SpecsOf(std::string_view kind) {
  const Specs* best = nullptr;
  std::size_t longest = 0;
  for (const Specs& one : AllSpecs()) {
    for (const std::string& words : Split(one.kind, '|')) {
      if (words.size() > longest && HasWords(kind, words)) {
        best = &one;
        longest = words.size();
      }
    }
  }
  // Of the same name, and with less memory.
  return HasWords(kind, "Laptop") ? nullptr : best;
}

}  // namespace muster::accelerator
