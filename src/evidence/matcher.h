// SPDX-License-Identifier: Apache-2.0
// All patterns of the catalogue as one matcher: the literals that a pattern
// cannot do without are searched in one pass over the bytes, and only a line
// that holds them meets a regular expression.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::evidence {

struct PatternRow {
  std::string_view text;  // RE2; named groups become fields of the fact
  std::string_view fact;  // name of the fact
  std::string_view says;  // of harmless lines: why they are
};

// Generated from causes/.
std::span<const PatternRow> CataloguePatterns();

struct Match {
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

  // A line that holds literals: its bytes [begin, end) of the block, and what
  // Matches() has to look at.
  struct Suspect {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::vector<int> atoms;
  };
  // The suspects of a block of whole lines (each ended by \n or \r), in order.
  void Scan(std::string_view block,
            const std::function<void(const Suspect&)>& found) const;

  // The patterns that match the line.
  std::vector<Match> Matches(std::string_view line,
                             const std::vector<int>& atoms) const;

  // Patterns that no literal stands for: each would be tried on every line.
  std::vector<std::string_view> WithoutLiteral() const;

 private:
  struct Patterns;
  std::unique_ptr<Patterns> patterns_;
};

}  // namespace muster::evidence
