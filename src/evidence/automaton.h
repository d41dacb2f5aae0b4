// SPDX-License-Identifier: Apache-2.0
// Finds many literals in one pass (Aho and Corasick), ignoring case.
#pragma once

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
  template <typename Found>
  void Scan(std::string_view text, Found&& found) const {
    std::uint32_t state = 0;
    const std::uint32_t* const table = table_.data();
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::uint8_t column = columns_[static_cast<std::uint8_t>(text[i])];
      state = table[(state & kStateMask) + column];
      if ((state & kFinal) != 0) [[unlikely]] {
        for (std::int32_t out = outputs_[(state & kStateMask) / width_];
             out >= 0; out = links_[static_cast<std::size_t>(out)].next) {
          found(i + 1, links_[static_cast<std::size_t>(out)].literal);
        }
      }
    }
  }

  std::size_t states() const { return outputs_.size(); }

 private:
  struct Link {
    int literal;
    std::int32_t next;  // -1: the last
  };
  void ChooseColumns(const std::vector<std::string>& literals);
  std::uint32_t AddState();  // its row
  void AddLiteral(const std::string& literal, int index);
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
