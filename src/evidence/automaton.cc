// SPDX-License-Identifier: Apache-2.0
#include "evidence/automaton.h"

#include <cctype>

namespace muster::evidence {

Automaton::Automaton(const std::vector<std::string>& literals) {
  ChooseColumns(literals);
  AddState();
  AddLiterals(literals);
  LinkFailures();
  for (std::uint32_t& next : table_) {
    if (outputs_[next / width_] >= 0) {
      next |= kFinal;
    }
  }
}

std::size_t Automaton::MiddleLine(std::string_view text) {
  const std::size_t at = text.find_first_of("\r\n", text.size() / 2);
  return at == std::string_view::npos ? 0 : at;
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
}

std::uint32_t Automaton::AddState() {
  table_.resize(table_.size() + width_, 0);
  outputs_.push_back(-1);
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
  for (std::size_t i = 0; i < literals.size(); ++i) {
    std::int32_t& output = outputs_[states[i] / width_];
    links_.push_back({static_cast<int>(i), output});
    output = static_cast<std::int32_t>(links_.size()) - 1;
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
  std::vector<std::uint32_t> fails(outputs_.size(), 0);
  std::vector<std::uint32_t> queue;
  for (std::uint32_t column = 0; column < width_; ++column) {
    if (table_[column] != 0) {
      queue.push_back(table_[column]);
    }
  }
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::uint32_t state = queue[head];
    const std::uint32_t fail = fails[state / width_];
    AppendOutputs(outputs_[state / width_], outputs_[fail / width_]);
    for (std::uint32_t column = 0; column < width_; ++column) {
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
void Automaton::AppendOutputs(std::int32_t& output, std::int32_t more) {
  std::int32_t* last = &output;
  while (*last >= 0) {
    last = &links_[static_cast<std::size_t>(*last)].next;
  }
  *last = more;
}

}  // namespace muster::evidence
