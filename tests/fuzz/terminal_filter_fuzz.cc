// SPDX-License-Identifier: Apache-2.0
// What ranks write to a terminal: the same bytes give the same output however
// they are cut, and nothing of it is a control but those that are kept. The
// first byte is the size of the pieces.
#include <string>
#include <string_view>

#include "muster/error.h"
#include "sys/terminal/terminal_filter.h"
#include "tests/fuzz/fuzz.h"

void Fuzz(const std::string& bytes) {
  using muster::sys::TerminalFilter;
  const std::size_t size =
      bytes.empty() ? 1 : 1 + static_cast<unsigned char>(bytes[0]) % 16;
  // The end of the line ends whatever is incomplete.
  const std::string line = bytes + "\n";
  const std::string whole = TerminalFilter().Filter(line);
  TerminalFilter filter;
  std::string pieces;
  for (std::size_t at = 0; at < line.size(); at += size) {
    pieces += filter.Filter(std::string_view(line).substr(at, size));
  }
  MUSTER_CHECK(pieces == whole);
  MUSTER_CHECK(whole.ends_with('\n'));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const char c = whole[i];
    MUSTER_CHECK(c != '\x7f' && c != '\x05');
    if (c == '\x1b') {
      MUSTER_CHECK(whole[i + 1] == '[');
      const auto end = whole.find_first_not_of("0123456789;:?", i + 2);
      MUSTER_CHECK(std::string_view("mKGABCDhl").find(whole[end]) !=
                   std::string_view::npos);
    }
  }
}
