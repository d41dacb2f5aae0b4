// SPDX-License-Identifier: Apache-2.0
#include "base/words/suggest.h"

#include <algorithm>
#include <numeric>

namespace muster {
namespace {

// Whether the text begins and ends where a part of the candidate does.
bool IsPart(std::string_view part, std::string_view candidate) {
  const auto is_edge = [&](std::size_t at) {
    return at == candidate.size() || candidate[at] == '-' ||
           candidate[at] == '.';
  };
  for (auto at = candidate.find(part); at != std::string_view::npos;
       at = candidate.find(part, at + 1)) {
    if ((at == 0 || is_edge(at - 1)) && is_edge(at + part.size())) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::size_t EditDistance(std::string_view a, std::string_view b) {
  // Rows of the table for a[..i-2], a[..i-1] and a[..i].
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1),
      row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1,
                         above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::optional<std::string> DidYouMean(std::string_view word,
                                      std::span<const std::string> candidates) {
  const std::string* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = EditDistance(word, candidate);
    if (distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

std::vector<std::string> Nearest(std::string_view word,
                                 std::span<const std::string> candidates) {
  constexpr std::size_t kMinPart = 3;
  constexpr std::size_t kMaxShown = 4;
  if (const auto nearest = DidYouMean(word, candidates)) {
    return {*nearest};
  }
  std::vector<std::string> found;
  for (const std::string& candidate : candidates) {
    if (word.size() >= kMinPart && found.size() < kMaxShown &&
        IsPart(word, candidate)) {
      found.push_back(candidate);
    }
  }
  return found;
}

std::string MeantText(std::string_view word,
                      std::span<const std::string> candidates) {
  std::string text;
  for (const std::string& one : Nearest(word, candidates)) {
    text += (text.empty() ? ", did you mean `" : " or `") + one + "`";
  }
  return text.empty() ? text : text + "?";
}

}  // namespace muster
