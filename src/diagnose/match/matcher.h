// SPDX-License-Identifier: Apache-2.0
// All patterns of the catalog as one matcher: the literals that a pattern
// cannot do without are searched in one pass over the bytes, and only a line
// that holds them meets a regular expression.
#pragma once

#include <re2/set.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace muster::diagnose {

struct PatternRow {
  std::string_view text;  // RE2; named groups become fields of the fact
  std::string_view fact;  // name of the fact
  std::string_view says;  // of harmless lines: why they are
  bool of_notes = false;  // tried on the user's notes, not on logs
};

// Generated from causes/.
std::span<const PatternRow> CataloguePatterns();
// Of the patterns and rules: hosts whose digests are equal find the same facts
// in the same lines, and conclude the same from them.
std::string_view RulesDigest();

struct Match {
  int pattern = 0;
  const PatternRow* row = nullptr;
  std::map<std::string, std::string> fields;
};

// Immutable once made; any thread.
class Matcher {
 public:
  explicit Matcher(std::span<const PatternRow> rows = CataloguePatterns());
  ~Matcher();
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;

  // A line that holds literals: its bytes [begin, end) of the block, and the
  // literals.
  struct Suspect {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::vector<int> atoms;
    std::uint64_t key = 0;  // equal for equal sets of literals
  };
  // The patterns that a set of literals leads to. Where they are tried on line
  // after line in vain, one automaton of them all says so in one pass.
  struct Possible {
    std::vector<int> patterns;
    std::unique_ptr<re2::RE2::Set> any;  // null: tried one by one
    std::uint64_t vain = 0;              // lines that none of them matched
    // Of these, for an automaton of the patterns that are not done by then.
    std::uint64_t enough = 1'000;
  };
  // What one reader remembers between lines: what sets of literals lead to,
  // and the patterns that it needs no more.
  struct Memory {
    std::unordered_map<std::uint64_t, Possible> possible;
    std::size_t automata = 0;
    std::vector<bool> done;             // by pattern
    std::vector<std::uint32_t> stamps;  // by literal: the line that had it last
    std::uint32_t stamp = 0;
  };
  // Before the first line of a source: no pattern is done. A log needs none of
  // the patterns of notes.
  enum class Lines : bool { kLog, kNotes };
  void Begin(Memory& memory, Lines lines = Lines::kLog) const;

  // The suspects of a block of whole lines (each ended by \n or \r), in order.
  void Scan(std::string_view block, Memory& memory,
            const std::function<void(const Suspect&)>& found) const;

  // The patterns that match the line, without those that are done.
  std::vector<Match> Matches(std::string_view line, const Suspect& suspect,
                             Memory& memory) const;

  // The line with blanks wherever the patterns of these matches hold.
  std::string Without(std::string_view line,
                      const std::vector<Match>& matches) const;

  std::size_t patterns() const;

  // Patterns that no literal stands for: each would be tried on every line.
  std::vector<std::string_view> WithoutLiteral() const;

 private:
  struct Patterns;
  std::unique_ptr<Patterns> patterns_;
};

}  // namespace muster::diagnose
