// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

#include "base/signal_name.h"

namespace muster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Split, KeepsEmptyPieces) {
  EXPECT_EQ(Split("a,,b,", ','), (std::vector<std::string>{"a", "", "b", ""}));
  EXPECT_TRUE(Split("", ',').empty());
}

TEST(ParseInt, TakesAWholeNumberAndNothingElse) {
  EXPECT_EQ(ParseInt("-12"), -12);
  EXPECT_EQ(ParseInt("12 "), std::nullopt);
  EXPECT_EQ(ParseInt(""), std::nullopt);
  EXPECT_EQ(ParseInt("99999999999999999999"), std::nullopt);
}

TEST(Lower, ChangesNothingButLettersOfAscii) {
  EXPECT_EQ(Lower("HTTP_Proxy=[::1] \xC3\x84Z"), "http_proxy=[::1] \xC3\x84z");
  EXPECT_EQ(Lower(""), "");
}

TEST(IsDigits, TakesNoSignAndNotNothing) {
  EXPECT_TRUE(IsDigits("0123456789"));
  EXPECT_FALSE(IsDigits(""));
  EXPECT_FALSE(IsDigits("-1"));
  EXPECT_FALSE(IsDigits("1 "));
}

TEST(ParseDuration, KnowsUnits) {
  EXPECT_EQ(ParseDuration("250ms"), milliseconds(250));
  EXPECT_EQ(ParseDuration("1.5 s"), milliseconds(1500));
  EXPECT_EQ(ParseDuration("2min"), seconds(120));
  EXPECT_EQ(ParseDuration("1h"), seconds(3600));
  EXPECT_EQ(ParseDuration("7"), seconds(7));
  EXPECT_EQ(ParseDuration("7 parsecs"), std::nullopt);
  EXPECT_EQ(ParseDuration("-1s"), std::nullopt);
  EXPECT_EQ(ParseDuration("1e300 h"), std::nullopt);
}

TEST(ParseBytes, KnowsBothKindsOfUnits) {
  EXPECT_EQ(ParseBytes("100MB"), 100'000'000U);
  EXPECT_EQ(ParseBytes("1.5 GiB"), 1'610'612'736U);
  EXPECT_EQ(ParseBytes("4096"), 4096U);
  EXPECT_EQ(ParseBytes("0"), std::nullopt);
  EXPECT_EQ(ParseBytes("0.1 B"), std::nullopt);
  EXPECT_EQ(ParseBytes("-1MB"), std::nullopt);
  EXPECT_EQ(ParseBytes("1 parsec"), std::nullopt);
  EXPECT_EQ(ParseBytes("1e300 TB"), std::nullopt);
  EXPECT_EQ(ParseBytes("nan"), std::nullopt);
}

TEST(ToString, WritesDurationsForPeople) {
  EXPECT_EQ(ToString(std::chrono::microseconds(400)), "0.40 ms");
  EXPECT_EQ(ToString(Duration(milliseconds(250))), "250 ms");
  EXPECT_EQ(ToString(Duration(milliseconds(12'340))), "12.3 s");
  EXPECT_EQ(ToString(Duration(seconds(125))), "2 min 5 s");
  EXPECT_EQ(ToString(Duration(seconds(7260))), "2 h 1 min");
}

TEST(BytesText, UsesBinaryUnits) {
  EXPECT_EQ(BytesText(512), "512 B");
  EXPECT_EQ(BytesText(3'355'443), "3.2 MiB");
}

TEST(Printable, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(Printable("a\x1b[31mb\n\x07"), "a\\x1b[31mb\\n\\x07");
  EXPECT_EQ(Printable("h\xc3\xa9llo \xe2\x9c\x93"),
            "h\xc3\xa9llo \xe2\x9c\x93");
  EXPECT_EQ(Printable("\xc2\x9b\xff"), "\\xc2\\x9b\\xff");
}

struct Unsafe {
  const char* text;
  const char* shown;
  const char* in_json;
};
class PrintableTable : public testing::TestWithParam<Unsafe> {};

TEST_P(PrintableTable, EscapesEachKind) {
  const Unsafe& row = GetParam();
  EXPECT_EQ(Printable(row.text), row.shown);
  EXPECT_EQ(Printable(row.text, TextForm::kPage), row.shown);
  EXPECT_EQ(Printable(row.text, TextForm::kJson), row.in_json);
  EXPECT_EQ(Printable(row.shown), row.shown);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, PrintableTable,
    testing::Values(
        Unsafe{"\x1b]0;t\x07", "\\x1b]0;t\\x07", "\\u001b]0;t\\u0007"},
        Unsafe{"a\x7f", "a\\x7f", "a\\u007f"},                  // DEL
        Unsafe{"\x9b", "\\x9b", "\\ufffd"},                     // raw C1
        Unsafe{"\xe9t\xe9", "\\xe9t\\xe9", "\\ufffdt\\ufffd"},  // Latin-1
        Unsafe{"\xc2\x80", "\\xc2\\x80", "\\u0080"},            // C1
        Unsafe{"\xd8\x9c", "\\xd8\\x9c", "\\u061c"},            // ALM
        Unsafe{"\xe2\x80\x8f", "\\xe2\\x80\\x8f", "\\u200f"},   // RLM
        Unsafe{"\xe2\x80\xae", "\\xe2\\x80\\xae", "\\u202e"},   // RLO
        Unsafe{"\xe2\x81\xa6", "\\xe2\\x81\\xa6", "\\u2066"},   // LRI
        Unsafe{"\xe2\x80\xa8", "\\xe2\\x80\\xa8", "\\u2028"},   // line
        Unsafe{"\xc0\x80", "\\xc0\\x80", "\\ufffd\\ufffd"},     // overlong
        Unsafe{"\xed\xa0\x80", "\\xed\\xa0\\x80",
               "\\ufffd\\ufffd\\ufffd"},  // surrogate
        Unsafe{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80",
               "\\ufffd\\ufffd\\ufffd\\ufffd"}));  // > U+10FFFF

TEST(Printable, KeepsLinesAndColorsOfAPageAlone) {
  const std::string page = "\x1b[1;31merror\x1b[0m a\n  b\n";
  EXPECT_EQ(Printable(page, TextForm::kPage), page);
  EXPECT_EQ(Printable("\x1b[2J\x1b[?25l\r\x1b[1", TextForm::kPage),
            "\\x1b[2J\\x1b[?25l\\r\\x1b[1");
}

TEST(Digest, TellsTextsApart) {
  EXPECT_EQ(Digest("a"), Digest("a"));
  EXPECT_NE(Digest("a"), Digest("b"));
  EXPECT_EQ(Digest("").size(), 16U);
}

TEST(JoinSome, CountsTheRest) {
  const std::vector<std::string> names{"a", "b", "c"};
  EXPECT_EQ(JoinSome(names, 3), "a, b, c");
  EXPECT_EQ(JoinSome(names, 1), "a and 2 more");
}

TEST(Count, UsesThePlural) {
  EXPECT_EQ(RanksText(std::vector{3}), "rank 3");
  EXPECT_EQ(RanksText(std::vector{1, 2}), "ranks 1, 2");
  EXPECT_EQ(Count(1, "step"), "1 step");
  EXPECT_EQ(Count(0, "step"), "0 steps");
  EXPECT_EQ(Count(2, "address"), "2 addresses");
}

TEST(SignalName, KnowsTheUsualOnes) {
  EXPECT_EQ(SignalName(9), "SIGKILL");
  EXPECT_EQ(SignalName(64), "signal 64");
  EXPECT_EQ(SignalNumber("SIGKILL"), 9);
  EXPECT_EQ(SignalNumber("bus"), 7);
  EXPECT_EQ(SignalNumber("oom"), std::nullopt);
  EXPECT_EQ(SignalNumber(""), std::nullopt);
}

TEST(Wrap, BreaksAtSpacesAndKeepsWordsWhole) {
  EXPECT_EQ(Wrap("", 10), std::vector<std::string>{""});
  EXPECT_EQ(Wrap("one  two three", 8),
            (std::vector<std::string>{"one  two", "three"}));
  EXPECT_EQ(Wrap("grün gelb verylongword", 9),
            (std::vector<std::string>{"grün gelb", "verylongword"}));
  EXPECT_EQ(Wrap("one  two", 5), (std::vector<std::string>{"one", "two"}));
}

}  // namespace
}  // namespace muster
