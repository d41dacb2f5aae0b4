// SPDX-License-Identifier: Apache-2.0
#include "diagnose/match/log_scanner.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace muster::diagnose {
namespace {

constexpr PatternRow kScanRows[] = {
    {"out of disk on (?P<disk>\\w+)", "disk.full", ""},
    {"looks alarming", "log.harmless", "it is not"},
    {"exit code (?P<code>\\d+)", "exit.status", ""},
    {"(?:ImportError: )optional", "log.harmless", "it is not"},
    {"perhaps .*", "log.guesses", ""},
    {"nothing: [^,]*", "log.guesses", ""},
    {"forks threads", "warned.fork", ""},
    {"^Exception ignored in", "python.ignored", ""},
    {"member (?P<member>\\d+) is here", "member.announced", ""},
    {"^\\w+Error:", "python.exception", ""},
    {"it hangs", "note.hangs", "", true},
    {"File \"(?P<file>[^\"]+)\", line \\d+, in ", "python.frame", ""},
};

class Scanning : public testing::Test {
 protected:
  std::vector<Fact> Read(std::string_view text, std::size_t piece = 1 << 20) {
    LogScanner scanner(matcher_);
    scanner.Begin({.name = "a.log"});
    for (std::size_t i = 0; i < text.size(); i += piece) {
      scanner.Feed(text.substr(i, piece));
    }
    scanner.End();
    auto facts = scanner.TakeFacts();
    const auto end =
        std::find_if(facts.begin(), facts.end(),
                     [](const Fact& fact) { return fact.name == kEnd; });
    end_ = end == facts.end() ? Fact() : *end;
    if (end != facts.end()) {
      facts.erase(end);
    }
    return facts;
  }
  Fact end_;  // of what was read last
  const Matcher matcher_{kScanRows};
};

TEST_F(Scanning, TellsFileLineAndField) {
  const auto facts = Read("one\ntwo\nout of disk on sda\n");
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].by, "a.log:3");
  EXPECT_EQ(facts[0].Text("disk"), "sda");
}

TEST_F(Scanning, DoesNotDependOnThePiecesItIsFed) {
  const std::string text = "x\nout of disk on a\ny\rout of disk on b\nz";
  const auto whole = Read(text);
  for (std::size_t piece = 1; piece < text.size(); ++piece) {
    const auto facts = Read(text, piece);
    ASSERT_EQ(facts.size(), whole.size()) << piece;
    EXPECT_EQ(facts.back().by, whole.back().by) << piece;
  }
}

TEST_F(Scanning, CountsEqualLinesInsteadOfKeepingThem) {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += "out of disk on sda\n";
  }
  const auto facts = Read(text);
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].Number("times"), 1000);
}

TEST_F(Scanning, EqualLinesTellWhereTheLastOneStands) {
  const auto facts = Read("out of disk on sda\nx\nout of disk on sda\n");
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].Number("last_line"), 3);
}

TEST_F(Scanning, AGuessIsCutOutOfItsLine) {
  const auto facts = Read(
      "it failed, perhaps out of disk on sda\n"
      "out of disk on sdb, perhaps exit code 3\n");
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].Text("disk"), "sdb");
}

TEST_F(Scanning, AHarmlessLineMayWarn) {
  const auto facts =
      Read("forks threads, out of disk on sda, looks alarming\n");
  ASSERT_EQ(facts.size(), 2U);
  EXPECT_EQ(facts[1].name, "warned.fork");
}

TEST_F(Scanning, AHarmlessLineSaysNothingElse) {
  const auto facts = Read("out of disk on sda looks alarming\n");
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].name, "log.harmless");
  EXPECT_EQ(facts[0].Text("says"), "it is not");
}

TEST_F(Scanning, AnExceptionIsHarmlessOnlyWhereThatIsSaidOfOne) {
  const auto facts = Read("KeyError: looks alarming\n");
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].name, "python.exception");
  EXPECT_EQ(Read("ImportError: optional\n")[0].name, "log.harmless");
}

TEST_F(Scanning, CutsAGuessWhereverItStands) {
  EXPECT_TRUE(
      Read("nothing: out of disk on a, nothing: out of disk on b\n").empty());
}

TEST_F(Scanning, WhatADestructorRaisesSaysNothing) {
  constexpr std::string_view kIgnored =
      "Exception ignored in: <function Writer.__del__ at 0x7f>\n"
      "Traceback (most recent call last):\n"
      "  File \"w.py\", line 3, in __del__\n"
      "TypeError: out of disk on sda\n";
  EXPECT_TRUE(Read(kIgnored).empty());
  // What follows it counts again, and so does what stands between.
  const auto after = Read(std::string(kIgnored) + "KeyError: 'a'\n");
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(after[0].by, "a.log:5");
  const auto between =
      Read("Exception ignored in: <x>\nout of disk on sda\nKeyError: 'a'\n");
  ASSERT_EQ(between.size(), 2U);
}

TEST_F(Scanning, TellsWhatAProcessDiesOf) {
  const auto facts = Read(
      "OSError: out of disk on sda\n"
      "Traceback (most recent call last):\n"
      "  File \"w.py\", line 3, in <module>\n"
      "OSError: out of disk on sdb\n");
  ASSERT_EQ(facts.size(), 3U);
  EXPECT_EQ(facts[0].Text("disk"), "sda");
  EXPECT_FALSE(facts[0].Has("fatal"));
  EXPECT_EQ(facts[2].Text("disk"), "sdb");
  EXPECT_TRUE(facts[2].Has("fatal"));
}

TEST_F(Scanning, NamesTheSignalOfAStatus) {
  EXPECT_EQ(Read("exit code 137\n")[0].Text("signal"), "SIGKILL");
  EXPECT_EQ(ExitFact("-7").Text("signal"), "SIGBUS");
  EXPECT_EQ(ExitFact("SIGHUP").Text("signal"), "SIGHUP");
}

TEST_F(Scanning, WhatIsLookedAtComesAfterAllLogsInItsOrder) {
  auto facts = Read("out of disk on sda\nout of disk on sdb\n");
  ASSERT_EQ(facts.size(), 2U);
  PutAfterLogs(facts[0]);
  PutAfterLogs(facts[1]);
  EXPECT_LT(ExitFact("1").Number("order", 0), facts[0].Number("order", 0));
  EXPECT_LT(facts[0].Number("order", 0), facts[1].Number("order", 0));
}

TEST_F(Scanning, ALineInParenthesesIsALineOfItsLog) {
  const auto facts = Read("(out of disk on sda)\n(it hangs)\n");
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].name, "disk.full");
  EXPECT_FALSE(facts[0].Has("note"));
  EXPECT_FALSE(end_.Has("note"));
}

TEST_F(Scanning, ReadsNotesBehindAllLogs) {
  const std::vector<std::string> notes = {
      "it hangs", "rank 3: [rank3]: WARNING: out of disk on sda"};
  LogScanner scanner(matcher_);
  scanner.AddNotes(notes);
  scanner.Begin({.name = "a.log"});
  scanner.Feed("out of disk on sda\n");
  scanner.End();
  auto facts = scanner.TakeFacts();
  ASSERT_EQ(facts.size(), 5U);
  EXPECT_EQ(facts[0].name, "note.hangs");
  EXPECT_EQ(facts[0].by, "note:1");
  EXPECT_EQ(facts[1].by, "note:2");
  EXPECT_EQ(facts[1].subject, "");
  EXPECT_FALSE(facts[1].Has("level"));
  EXPECT_EQ(facts[2].name, kEnd);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(facts[i].Has("note")) << i;
    EXPECT_EQ(facts[i].Text("source"), "note") << i;
  }
  EXPECT_EQ(facts[3].by, "a.log:1");
  EXPECT_FALSE(facts[3].Has("note"));
  EXPECT_GT(facts[0].Number("order"), facts[3].Number("order"));
}

TEST_F(Scanning, WhatIsWarnedOfAndThenPrintedIsNoMereWarning) {
  const std::string warning = "WARNING: out of disk on sda\n";
  EXPECT_EQ(Read(warning + warning)[0].Text("level"), "W");
  EXPECT_FALSE(Read(warning + "out of disk on sda\n")[0].Has("level"));
}

TEST_F(Scanning, KeepsEveryMemberThatIsCompared) {
  std::string text;
  for (int rank = 0; rank < 16; ++rank) {
    text += "member " + std::to_string(rank) + " is here\n";
  }
  EXPECT_EQ(Read(text).size(), 16U);
}

TEST_F(Scanning, KeepsTheFirstOfEveryRankAndTheLastOfOne) {
  std::string text;
  for (int rank = 0; rank < 16; ++rank) {
    text += "[rank" + std::to_string(rank) + "]: out of disk on sda\n";
  }
  EXPECT_EQ(Read(text).size(), 16U);
  text.clear();
  for (int disk = 0; disk < 100; ++disk) {
    text += "out of disk on sd" + std::to_string(disk) + "\n";
  }
  const auto facts = Read(text);
  EXPECT_LT(facts.size(), 10U);
  EXPECT_EQ(facts.front().Text("disk"), "sd0");
  EXPECT_EQ(facts.back().Text("disk"), "sd99");
}

TEST_F(Scanning, ReplacesNoFactOfAnotherSource) {
  LogScanner scanner(matcher_);
  for (int source = 0; source < 20; ++source) {
    scanner.Begin({.name = "log" + std::to_string(source)});
    for (int disk = 0; disk < 10; ++disk) {
      scanner.Feed("out of disk on sd" + std::to_string(disk) + "\n");
    }
    scanner.End();
  }
  EXPECT_EQ(scanner.TakeFacts().front().by, "log0:1");
}

TEST_F(Scanning, WhatADestructorRaisesBehindAPrefixSaysNothing) {
  EXPECT_TRUE(Read("[default0]:Exception ignored in: <function W.__del__>\n"
                   "[default0]:Traceback (most recent call last):\n"
                   "[default0]:  File \"a.py\", line 3, in __del__\n"
                   "[default0]:AttributeError: no close\n")
                  .empty());
}

TEST_F(Scanning, WhatADestructorRaisesBehindATimeSaysNothing) {
  EXPECT_TRUE(Read("2024-05-01T10:00:00.1Z Exception ignored in: <f at 0x7f>\n"
                   "2024-05-01T10:00:00.2Z Traceback (most recent call last):\n"
                   "2024-05-01T10:00:00.3Z   File \"a.py\", line 3, in f\n"
                   "2024-05-01T10:00:00.4Z TypeError: out of disk on sda\n")
                  .empty());
}

TEST_F(Scanning, KnowsTheTracebackOfEachRank) {
  const auto facts = Read(
      "[rank0]:Exception ignored in: <function W.__del__>\n"
      "[rank0]:Traceback (most recent call last):\n"
      "[rank1]:Traceback (most recent call last):\n"
      "[rank1]:KeyError: 'x'\n"
      "[rank0]:AttributeError: no close\n");
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].subject, "rank 1");
}

TEST_F(Scanning, ReadsALineToItsEndHoweverLongItIs) {
  const std::string text = "one\n" + std::string(300'000, 'x') +
                           " out of disk on sda\ntwo\n" +
                           "out of disk on sdb\n";
  for (const std::size_t piece : {1U << 20, 100'000U, 70'000U, 1'000U}) {
    const auto facts = Read(text, piece);
    ASSERT_EQ(facts.size(), 2U) << piece;
    EXPECT_EQ(facts[0].by, "a.log:2") << piece;
    EXPECT_EQ(facts[1].by, "a.log:4") << piece;
  }
}

TEST_F(Scanning, RemovesASecretThatTheCutWouldSplit) {
  const std::string secret = std::string("pass") + "word";
  const auto facts = Read("out of disk on a " + std::string(570, 'x') +
                          " https://user:" + secret + secret + "@host/\n");
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].Text("text").find(secret), std::string::npos);
}

TEST_F(Scanning, SeesThroughColours) {
  const auto facts = Read("\033[31mout of \033[1mdisk on\033[0m sda\n");
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].Text("text"), "out of disk on sda");
}

TEST_F(Scanning, CutsAnEndlessLine) {
  std::string text(300'000, 'x');
  text += " out of disk on sda";
  EXPECT_EQ(Read(text).size(), 1U);
  EXPECT_EQ(Read(text, 1000).size(), 1U);
}

TEST_F(Scanning, KeepsTheLastLinesWithoutSecrets) {
  const std::string far(1 << 13, 'x');
  Read(far + "\nthe key is AIzaSyA0123456789abcdefghijklmnopqrstuvw\nlast\n");
  EXPECT_EQ(end_.by, "a.log:3");
  EXPECT_TRUE(end_.Text("text").ends_with("last"));
  EXPECT_LE(end_.Text("text").size(), 4096U);
  EXPECT_EQ(end_.Text("text").find("AIzaSy"), std::string::npos);
  Read("\n \n");
  EXPECT_EQ(end_.name, "");
}

TEST_F(Scanning, TakesTheRankOfTheLineOrOfTheFile) {
  EXPECT_EQ(Read("[rank3]: out of disk on sda\n")[0].subject, "rank 3");
  LogScanner scanner(matcher_);
  scanner.Begin({.name = "rank5.err", .rank = 5});
  scanner.Feed("out of disk on sda\n");
  scanner.End();
  EXPECT_EQ(scanner.TakeFacts()[0].subject, "rank 5");
}

TEST_F(Scanning, TakesTheHostOfTheFileForNoRank) {
  LogScanner scanner(matcher_);
  scanner.Begin({.name = "node1.log", .host = "node1"});
  scanner.Feed("[rank9]: out of disk on sda\nout of disk on sdb\n");
  scanner.End();
  const auto facts = scanner.TakeFacts();
  ASSERT_GE(facts.size(), 2U);
  EXPECT_EQ(facts[0].subject, "rank 9");
  EXPECT_EQ(facts[1].subject, "");
  EXPECT_EQ(facts[1].Text("host"), "node1");
}

TEST_F(Scanning, TakesTheRankOfALineAsItIsTold) {
  const auto pattern = RankPattern::Make(R"(^worker-(\d+) \|)");
  ASSERT_TRUE(pattern);
  LogScanner scanner(matcher_);
  scanner.Begin({.name = "all.log", .rank_from = &*pattern});
  scanner.Feed(
      "worker-3 | out of disk on sda\n"
      "worker-4 | out of disk on sda\n"
      "[rank7]: out of disk on sda\n");
  scanner.End();
  const auto facts = scanner.TakeFacts();
  ASSERT_GE(facts.size(), 3U);
  EXPECT_EQ(facts[0].subject, "rank 3");
  EXPECT_EQ(facts[1].subject, "rank 4");
  EXPECT_EQ(facts[2].subject, "");
}

TEST_F(Scanning, KeepsTheFirstInTimeOfManyRanks) {
  LogScanner scanner(matcher_);
  for (int rank = 0; rank < 100; ++rank) {
    scanner.Begin({.name = "rank" + std::to_string(rank), .rank = rank});
    scanner.Feed(rank == 99 ? "2024-05-01 12:00:00 out of disk on sda\n"
                            : "2024-05-01 12:00:07 out of disk on sda\n");
    scanner.End();
  }
  const auto facts = scanner.TakeFacts();
  EXPECT_LT(std::count_if(facts.begin(), facts.end(),
                          [](const Fact& fact) { return fact.name != kEnd; }),
            100);
  EXPECT_TRUE(std::any_of(facts.begin(), facts.end(), [](const Fact& fact) {
    return fact.subject == "rank 99";
  }));
}

}  // namespace
}  // namespace muster::diagnose
