// SPDX-License-Identifier: Apache-2.0
#include "sys/terminal/terminal_filter.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace muster::sys {
namespace {

std::string Filtered(std::string_view bytes) {
  return TerminalFilter().Filter(bytes);
}

struct Row {
  std::string_view bytes;
  std::string_view shown;
};
class FilterTable : public testing::TestWithParam<Row> {};

TEST_P(FilterTable, ShowsWhatIsExpected) {
  EXPECT_EQ(Filtered(GetParam().bytes), GetParam().shown);
}

INSTANTIATE_TEST_SUITE_P(
    Kept, FilterTable,
    testing::Values(Row{"a\tb\bc\rd\a\n", "a\tb\bc\rd\a\n"},
                    Row{"h\xc3\xa9 \xe2\x96\x88 \xf0\x9f\x9a\x80",
                        "h\xc3\xa9 \xe2\x96\x88 \xf0\x9f\x9a\x80"},
                    Row{"\x1b[1;38;5;196mred\x1b[m",
                        "\x1b[1;38;5;196mred\x1b[m"},
                    Row{"\x1b[38:2::1:2:3mx", "\x1b[38:2::1:2:3mx"},
                    Row{"\x1b[3C\x1b[D\x1b[12G\x1b[K\x1b[2K",
                        "\x1b[3C\x1b[D\x1b[12G\x1b[K\x1b[2K"},
                    Row{"\x1b[?25lx\x1b[?25h", "\x1b[?25lx\x1b[?25h"},
                    Row{"latin-1: \xe9!", "latin-1: \xe9!"},
                    // Two nested bars of tqdm.
                    Row{"\r 0%\n\r50%\x1b[A\r10%", "\r 0%\n\r50%\x1b[1A\r10%"},
                    // A live display of rich, three lines high.
                    Row{"a\nb\nc\r\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2Kd",
                        "a\nb\nc\r\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2Kd"},
                    Row{"a\nb\n\x1b[2A\x1b[2Bc", "a\nb\n\x1b[2A\x1b[2Bc"}));

INSTANTIATE_TEST_SUITE_P(
    Dropped, FilterTable,
    testing::Values(
        Row{"a\x1b]0;title\ab", "ab"}, Row{"a\x1b]2;title\x1b\\b", "ab"},
        Row{"a\x1b]52;c;cm0gLXJm\ab", "ab"},
        Row{"a\x1b]8;;http://x\x1b\\l\x1b]8;;\x1b\\b", "alb"},
        Row{"a\x1bP$q\"p\x1b\\b", "ab"}, Row{"a\x1b_Gf=1;AA\x1b\\b", "ab"},
        Row{"a\x1b^pm\x1b\\b", "ab"}, Row{"a\x1bXsos\x1b\\b", "ab"},
        Row{"\x1b[c\x1b[>c\x1b[6n\x1b[?6n\x1b[18t\x1b[x\x05", ""},
        Row{"\x1b[2J\x1b[J\x1b[H\x1b[3;4H\x1b[5S\x1b[2;3r\x1b[L", ""},
        Row{"\x1b[?1049h\x1b[?2004h\x1b[4h\x1b[?25;1049l\x1b[>4;2m", ""},
        Row{"\x1b"
            "c\x1b"
            "7\x1b"
            "8\x1bM\x1b(0\x1b%G\x1b#8\x0e\x0f",
            ""},
        Row{"a\x9b"
            "2Jb\xc2\x9b"
            "2Jc\x90\x7f\x0b",
            "a2Jb2Jc"},
        Row{"\xe0\x80\x9b\xf0\x80\x80\x9b\xc2\x1b[2J\x9b", "\xc2"},
        // Up over nobody else's lines, down over none that is not there.
        Row{"\x1b[Aa\n\x1b[9999Ab\x1b[A\x1b[5B\x1b[B", "a\n\x1b[1Ab\x1b[1B"},
        Row{"\x1b[99999K\x1b[1;1G", ""},
        // Incomplete, cut off and without an end.
        Row{"a\x1b[31", "a"}, Row{"a\x1b]0;t\nb", "a\nb"},
        Row{"a\x1b[3\nb", "a\nb"}, Row{"a\x1b[3\x1b[1mb", "a\x1b[1mb"},
        Row{"a\x1b]0;t\x1b[1mb", "a\x1b[1mb"}));

TEST(TerminalFilter, BoundsWhatHasNoEnd) {
  const std::string much(TerminalFilter::kMaxString, 'x');
  EXPECT_EQ(Filtered("\x1b]0;" + much + "seen"), "xxseen");
  EXPECT_EQ(Filtered("\x1b[" + std::string(100, '1') + "m").size(), 37U);
  std::string lines(1000, '\n');
  EXPECT_EQ(Filtered(lines + "\x1b[900A"), lines + "\x1b[32A");
}

TEST(TerminalFilter, ForgetsWhatIsIncomplete) {
  TerminalFilter filter;
  EXPECT_EQ(filter.Filter("a\x1b]0;"), "a");
  filter.Reset();
  EXPECT_EQ(filter.Filter("muster: said"), "muster: said");
}

// Bytes of which sequences are made, and any others.
std::string RandomBytes(std::mt19937& random) {
  constexpr std::string_view kLikely =
      "\x1b\x1b\x1b[[]P_^X?>;:0125;mKGABCDJHhlnc\\\a\n\r\b\x9b\x9c\xc2\x80\xe2"
      "\xe0\xf0\x98(%q$";
  std::string bytes(random() % 200, 'x');
  for (char& c : bytes) {
    c = random() % 8 == 0 ? static_cast<char>(random())
                          : kLikely[random() % kLikely.size()];
  }
  return bytes;
}

// Independent of the filter: whether only what is kept is there.
bool IsHarmless(std::string_view text) {
  while (!text.empty()) {
    std::size_t length = 1;
    if (text[0] == '\x1b') {
      if (text.size() < 3 || text[1] != '[') {
        return false;
      }
      const auto end = text.find_first_not_of("0123456789;:?", 2);
      if (end == std::string_view::npos) {
        return false;
      }
      const auto given = text.substr(2, end - 2);
      const bool cursor =
          given == "?25" && (text[end] == 'h' || text[end] == 'l');
      const bool other =
          given.find('?') == std::string_view::npos &&
          std::string_view("mKGABCD").find(text[end]) != std::string_view::npos;
      if (!cursor && !other) {
        return false;
      }
      length = end + 1;
    } else if ((static_cast<unsigned char>(text[0]) < 0x20 &&
                std::string_view("\t\n\r\b\a").find(text[0]) ==
                    std::string_view::npos) ||
               text[0] == '\x7f' || text.starts_with("\xc2\x80") ||
               text.starts_with("\xc2\x9b") || text.starts_with("\xc2\x9c")) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

TEST(TerminalFilter, ShowsTheSameHoweverBytesAreCut) {
  std::mt19937 random(
      30);  // NOLINT(bugprone-random-generator-seed): repeatable
  for (int i = 0; i < 20'000; ++i) {
    const std::string bytes = RandomBytes(random) + "\n";
    const std::string whole = Filtered(bytes);
    TerminalFilter filter;
    std::string pieces;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size = 1 + random() % 7;
      pieces += filter.Filter(std::string_view(bytes).substr(at, size));
      at += size;
    }
    ASSERT_EQ(pieces, whole);
    ASSERT_TRUE(IsHarmless(whole)) << testing::PrintToString(bytes);
    ASSERT_EQ(Filtered(whole), whole) << testing::PrintToString(bytes);
  }
}

}  // namespace
}  // namespace muster::sys
