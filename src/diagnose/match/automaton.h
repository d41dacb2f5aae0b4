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

namespace muster::diagnose {

// A table of states: one step a byte, whatever the number of literals. Bytes
// that no literal holds share one column, so that the table stays in the cache.
// Immutable once made; any thread.
class Automaton {
 public:
  // Literals are lower case and hold no line end.
  explicit Automaton(const std::vector<std::string>& literals);

  // Calls `found(end, literal)` for every occurrence; `end` is the index after
  // its last byte. Occurrences come in order of their ends. `text` is shorter
  // than 4 GiB.
  template <typename Found>
  void Scan(std::string_view text, Found&& found) const {
    std::vector<Hit> hits;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = AfterLine(text, begin + kBlock);
      const std::string_view block = text.substr(begin, end - begin);
      hits.resize(std::max(hits.size(), block.size()));
      for (const Lane& lane : Walk(block, hits.data())) {
        for (const Hit* hit = lane.hits; hit != lane.end; ++hit) {
          Tell(*hit, begin, found);
        }
      }
      begin = end;
    }
  }

  std::size_t states() const { return table_.size() / width_; }

 private:
  // So much is read before what is found there is told.
  static constexpr std::size_t kBlock = std::size_t{64} << 10;

  // A byte after which a literal ends: its index in the block, and the state.
  struct Hit {
    std::uint32_t at;
    std::uint32_t state;
  };
  // One of the parts of a block that are read side by side.
  struct Lane {
    std::uint32_t at;  // in the block
    std::uint32_t until;
    std::uint32_t state;
    Hit* hits;  // room for one each byte
    Hit* end;
  };
  static constexpr std::size_t kLanes = 4;

  // The index after the first line end at or behind `at`, or the text's size.
  static std::size_t AfterLine(std::string_view text, std::size_t at);
  // Lanes that begin after line ends, which are in no literal.
  static std::array<Lane, kLanes> Split(std::string_view block, Hit* hits);
  std::array<Lane, kLanes> Walk(std::string_view block, Hit* hits) const;

  // Every state is stored, and what is no hit is overwritten by the next: in
  // most texts so many literals end that a branch would be foretold wrongly.
  void Step(const char* block, Lane& lane) const {
    const auto byte = static_cast<std::uint8_t>(block[lane.at]);
    lane.state = table_[(lane.state & kStateMask) + columns_[byte]];
    *lane.end = {lane.at, lane.state};
    lane.end += lane.state >> 31U;
    ++lane.at;
  }

  template <typename Found>
  void Tell(const Hit& hit, std::size_t begin, Found&& found) const {
    for (std::uint32_t link = table_[OutputOf(hit.state & kStateMask)];
         link != kNone; link = links_[link].next) {
      found(begin + hit.at + 1, links_[link].literal);
    }
  }

  struct Link {
    int literal;
    std::uint32_t next;  // kNone: the last
  };
  // The place in the table of a state's first link: the last of its row.
  std::size_t OutputOf(std::uint32_t state) const { return state + width_ - 1; }
  void ChooseColumns(const std::vector<std::string>& literals);
  std::uint32_t AddState();  // its row
  void AddLiterals(const std::vector<std::string>& literals);
  std::uint32_t Child(std::uint32_t state, char c);  // made if it is missing
  void LinkFailures();
  void AppendOutputs(std::uint32_t state, std::uint32_t more);

  static constexpr std::uint32_t kNone = 0;
  static constexpr std::uint32_t kFinal = 0x80000000U;
  static constexpr std::uint32_t kStateMask = 0x7FFFFFFFU;

  std::array<std::uint8_t, 256> columns_{};
  std::uint32_t width_ = 1;
  // Of each state a row: by column the row of the next state, and kFinal where
  // a literal ends there; then the first of the state's own links.
  std::vector<std::uint32_t> table_;
  std::vector<Link> links_;  // the first is none
};

}  // namespace muster::diagnose
