// SPDX-License-Identifier: Apache-2.0
// What a misspelled word was meant to be. Needs nothing else of this room, so
// that the tools that generate its code use it, too. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// Insertions, deletions, replacements and swaps of neighboring bytes that turn
// `a` into `b`.
std::size_t EditDistance(std::string_view a, std::string_view b);

// The candidate closest to `word` by edit distance, if it is near enough (at
// most a third of its length) to be what was meant.
std::optional<std::string> DidYouMean(std::string_view word,
                                      std::span<const std::string> candidates);

// The closest candidate, or else all of which `word` is a part between dashes
// or dots: `oom` of `oom-host`. Empty: none is near.
std::vector<std::string> Nearest(std::string_view word,
                                 std::span<const std::string> candidates);

// ", did you mean `a` or `b`?", or nothing: the end of an error.
std::string MeantText(std::string_view word,
                      std::span<const std::string> candidates);

}  // namespace muster
