// SPDX-License-Identifier: Apache-2.0
#include "diagnose/match/automaton.h"

#include <cctype>

namespace muster::diagnose {

Automaton::Automaton(const std::vector<std::string>& literals) {
  ChooseColumns(literals);
  AddState();
  AddLiterals(literals);
  LinkFailures();
  for (std::size_t row = 0; row < table_.size(); row += width_) {
    for (std::size_t at = row; at + 1 < row + width_; ++at) {
      if (table_[OutputOf(table_[at])] != kNone) {
        table_[at] |= kFinal;
      }
    }
  }
}

std::size_t Automaton::AfterLine(std::string_view text, std::size_t at) {
  const std::size_t end = text.find_first_of("\r\n", at);
  return end == std::string_view::npos ? text.size() : end + 1;
}

std::array<Automaton::Lane, Automaton::kLanes> Automaton::Split(
    std::string_view block, Hit* hits) {
  std::array<Lane, kLanes> lanes{};
  std::size_t begin = 0;
  for (std::size_t i = 0; i < kLanes; ++i) {
    const std::size_t end =
        i + 1 == kLanes
            ? block.size()
            : std::max(begin,
                       AfterLine(block, block.size() / kLanes * (i + 1)));
    lanes[i] = {static_cast<std::uint32_t>(begin),
                static_cast<std::uint32_t>(end), 0, hits + begin, hits + begin};
    begin = end;
  }
  return lanes;
}

// Each step waits for the one before it: that of another lane does not.
std::array<Automaton::Lane, Automaton::kLanes> Automaton::Walk(
    std::string_view block, Hit* hits) const {
  std::array<Lane, kLanes> lanes = Split(block, hits);
  std::uint32_t together = lanes[0].until;
  for (const Lane& lane : lanes) {
    together = std::min(together, lane.until - lane.at);
  }
  // Copies, which live in registers.
  auto [first, second, third, fourth] = lanes;
  for (std::uint32_t i = 0; i < together; ++i) {
    Step(block.data(), first);
    Step(block.data(), second);
    Step(block.data(), third);
    Step(block.data(), fourth);
  }
  lanes = {first, second, third, fourth};
  for (Lane& lane : lanes) {
    while (lane.at < lane.until) {
      Step(block.data(), lane);
    }
  }
  return lanes;
}

// Column 0 is for all bytes that occur in no literal.
void Automaton::ChooseColumns(const std::vector<std::string>& literals) {
  for (const std::string& literal : literals) {
    for (char c : literal) {
      auto& column = columns_[static_cast<std::uint8_t>(c)];
      if (column == 0) {
        column = static_cast<std::uint8_t>(width_++);
      }
    }
  }
  for (int c = 'A'; c <= 'Z'; ++c) {
    columns_[static_cast<std::size_t>(c)] =
        columns_[static_cast<std::size_t>(std::tolower(c))];
  }
  ++width_;  // that of the links
}

std::uint32_t Automaton::AddState() {
  table_.resize(table_.size() + width_, 0);
  return static_cast<std::uint32_t>(table_.size()) - width_;
}

// Into the trie; 0 as a target is "none" until the failure links are known.
// Byte by byte of all of them, so that the states near the root, where most of
// a text is read, lie together in memory.
void Automaton::AddLiterals(const std::vector<std::string>& literals) {
  std::vector<std::uint32_t> states(literals.size(), 0);
  bool more = true;
  for (std::size_t depth = 0; more; ++depth) {
    more = false;
    for (std::size_t i = 0; i < literals.size(); ++i) {
      if (depth < literals[i].size()) {
        states[i] = Child(states[i], literals[i][depth]);
        more = true;
      }
    }
  }
  links_.push_back({-1, kNone});
  for (std::size_t i = 0; i < literals.size(); ++i) {
    std::uint32_t& output = table_[OutputOf(states[i])];
    links_.push_back({static_cast<int>(i), output});
    output = static_cast<std::uint32_t>(links_.size()) - 1;
  }
}

std::uint32_t Automaton::Child(std::uint32_t state, char c) {
  const std::size_t at = state + columns_[static_cast<std::uint8_t>(c)];
  if (table_[at] == 0) {
    const std::uint32_t made = AddState();
    table_[at] = made;
  }
  return table_[at];
}

// Breadth first: the failure state of a child is known before its own children
// are looked at; missing edges are those of the failure state.
void Automaton::LinkFailures() {
  std::vector<std::uint32_t> fails(states(), 0);
  std::vector<std::uint32_t> queue;
  for (std::uint32_t column = 0; column + 1 < width_; ++column) {
    if (table_[column] != 0) {
      queue.push_back(table_[column]);
    }
  }
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::uint32_t state = queue[head];
    const std::uint32_t fail = fails[state / width_];
    AppendOutputs(state, table_[OutputOf(fail)]);
    for (std::uint32_t column = 0; column + 1 < width_; ++column) {
      std::uint32_t& next = table_[state + column];
      if (next != 0) {
        fails[next / width_] = table_[fail + column];
        queue.push_back(next);
      } else {
        next = table_[fail + column];
      }
    }
  }
}

// The literals of the failure state end here too.
void Automaton::AppendOutputs(std::uint32_t state, std::uint32_t more) {
  std::uint32_t* last = &table_[OutputOf(state)];
  while (*last != kNone) {
    last = &links_[*last].next;
  }
  *last = more;
}

}  // namespace muster::diagnose
