// SPDX-License-Identifier: Apache-2.0
#include "case_text.h"

#include <algorithm>

#include "base/text.h"

namespace muster::corpus {
namespace {

constexpr std::string_view kSymptom = "(symptom)";

// "(tensor(0.56, device='cuda:0'), 3)": what a program prints of a tuple.
// People write words one after the other.
bool IsOfValues(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '\'';
  };
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == ' ' && is_letter(text[i - 1]) && is_letter(text[i + 1])) {
      return false;
    }
  }
  return text.find_first_of("='\"[:", 1) != std::string_view::npos;
}

}  // namespace

bool IsDescription(std::string_view line) {
  const std::string_view text = Trim(line);
  if (!text.starts_with('(')) {
    return false;
  }
  int depth = 0;
  const auto* const closing =
      std::find_if(text.begin(), text.end(), [&](char c) {
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        return depth == 0;
      });
  return text.starts_with(kSymptom) ||
         (closing != text.end() && closing + 1 == text.end() &&
          !IsOfValues(text));
}

CaseText SplitCase(std::string_view text) {
  CaseText split;
  for (const std::string& line : Split(text, '\n')) {
    if (!IsDescription(line)) {
      split.log += line + "\n";
      continue;
    }
    std::string_view note = Trim(line);
    note = note.starts_with(kSymptom) ? note.substr(kSymptom.size())
                                      : note.substr(1, note.size() - 2);
    split.notes.emplace_back(Trim(note));
  }
  return split;
}

}  // namespace muster::corpus
