// SPDX-License-Identifier: Apache-2.0
// Finds many literals in one pass (Aho and Corasick), ignoring case.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::evidence {

// A table of states: one step a byte, whatever the number of literals. Bytes
// that no literal holds share one column, so that the table stays in the cache.
// Immutable once made; any thread.
class Automaton {
 public:
  // Literals are lower case and hold no line end.
  explicit Automaton(const std::vector<std::string>& literals);

  // Calls `found(end, literal)` for every occurrence; `end` is the index after
  // its last byte. Occurrences come in order of their ends.
  //
  // Each step waits for the one before it, so two halves of the text are read
  // at once: a line end is in no literal, and what is found behind the middle
  // is kept until the first half is done.
  template <typename Found>
  void Scan(std::string_view text, Found&& found) const {
    const std::size_t middle = MiddleLine(text);
    std::vector<Occurrence> late;
    const auto keep = [&](std::size_t end, int literal) {
      late.push_back({end, literal});
    };
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    // Copies, for the compiler cannot know that `found` leaves members alone.
    const std::uint32_t* const table = table_.data();
    const std::array<std::uint8_t, 256> columns = columns_;
    const char* const at = text.data();
    const auto next = [&](std::uint32_t state, char byte) {
      return table[(state & kStateMask) +
                   columns[static_cast<std::uint8_t>(byte)]];
    };
    const std::size_t both = std::min(middle, text.size() - middle);
    for (std::size_t i = 0; i < both; ++i) {
      first = next(first, at[i]);
      second = next(second, at[middle + i]);
      if (((first | second) & kFinal) != 0) [[unlikely]] {
        Tell(first, i + 1, found);
        Tell(second, middle + i + 1, keep);
      }
    }
    for (std::size_t i = both; i < middle; ++i) {
      first = next(first, at[i]);
      Tell(first, i + 1, found);
    }
    for (const Occurrence& one : late) {
      found(one.end, one.literal);
    }
    for (std::size_t i = middle + both; i < text.size(); ++i) {
      second = next(second, at[i]);
      Tell(second, i + 1, found);
    }
  }

  std::size_t states() const { return outputs_.size(); }

 private:
  struct Occurrence {
    std::size_t end;
    int literal;
  };
  // The first line end behind the middle, or 0.
  static std::size_t MiddleLine(std::string_view text);

  template <typename Found>
  void Tell(std::uint32_t state, std::size_t end, Found&& found) const {
    if ((state & kFinal) == 0) [[likely]] {
      return;
    }
    for (std::int32_t out = outputs_[(state & kStateMask) / width_]; out >= 0;
         out = links_[static_cast<std::size_t>(out)].next) {
      found(end, links_[static_cast<std::size_t>(out)].literal);
    }
  }

  struct Link {
    int literal;
    std::int32_t next;  // -1: the last
  };
  void ChooseColumns(const std::vector<std::string>& literals);
  std::uint32_t AddState();  // its row
  void AddLiterals(const std::vector<std::string>& literals);
  std::uint32_t Child(std::uint32_t state, char c);  // made if it is missing
  void LinkFailures();
  void AppendOutputs(std::int32_t& output, std::int32_t more);

  static constexpr std::uint32_t kFinal = 0x80000000U;
  static constexpr std::uint32_t kStateMask = 0x7FFFFFFFU;

  std::array<std::uint8_t, 256> columns_{};
  std::uint32_t width_ = 1;
  std::vector<std::uint32_t> table_;   // of row offsets
  std::vector<std::int32_t> outputs_;  // first link of a state, or -1
  std::vector<Link> links_;
};

}  // namespace muster::evidence
