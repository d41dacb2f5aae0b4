// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/rank_logs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"

namespace muster::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Ranks, AreReadAndWrittenAsRanges) {
  EXPECT_THAT(*ParseRanks("0-2,7"), ElementsAre(0, 1, 2, 7));
  EXPECT_EQ(RanksShort({0, 1, 2, 7}), "0-2,7");
  EXPECT_EQ(RanksShort({4}), "4");
  for (const char* wrong : {"", "a", "3-1", "-1", "1-", "0-9999999"}) {
    EXPECT_FALSE(ParseRanks(wrong)) << wrong;
  }
}

class LineFolderTest : public testing::Test {
 protected:
  std::vector<std::string> lines;
  LineFolder folder{[this](const RankLine& line) {
    lines.push_back("[" + RanksShort(line.ranks) + "] " + line.text);
  }};
};

TEST_F(LineFolderTest, JoinsEqualLinesOfRanks) {
  for (const int rank : {0, 1, 3}) {
    folder.Add(rank, "loading");
  }
  folder.Add(0, "done");
  folder.Flush();
  EXPECT_THAT(lines, ElementsAre("[0-1,3] loading", "[0] done"));
}

TEST_F(LineFolderTest, KeepsTheOrderOfEveryRank) {
  folder.Add(0, "a");
  folder.Add(0, "only here");
  folder.Add(1, "a");
  folder.Add(1, "b");
  folder.Add(0, "b");
  folder.Add(0, "a");
  folder.Flush();
  EXPECT_THAT(lines,
              ElementsAre("[0-1] a", "[0] only here", "[0-1] b", "[0] a"));
}

TEST_F(LineFolderTest, DoesNotFoldARankWithItself) {
  folder.Add(0, "x");
  folder.Add(0, "x");
  folder.Flush();
  EXPECT_THAT(lines, ElementsAre("[0] x", "[0] x"));
}

class RankLogsTest : public testing::Test {
 protected:
  RankLogsTest() {
    std::string pattern = testing::TempDir() + "logsXXXXXX";
    folder = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  void Append(const std::string& name, const std::string& text) {
    std::ofstream(folder + "/" + name, std::ios::app) << text;
  }
  RankLogs Open(std::set<int> ranks = {}, bool growing = false) {
    return RankLogs({.folder = folder,
                     .ranks = std::move(ranks),
                     .growing = growing,
                     .on_line = [this](int rank, std::string_view line) {
                       lines.push_back(std::to_string(rank) + " " +
                                       std::string(line));
                     }});
  }
  std::string folder;
  std::vector<std::string> lines;
};

TEST_F(RankLogsTest, MergesByTheTimesThatLinesBeginWith) {
  Append("rank0.out",
         "2026-11-21 10:00:01 a\ntraceback\n2026-11-21 10:00:05 c\n");
  Append("rank1.err", "2026-11-21 10:00:03 b\n");
  EXPECT_EQ(*Open().Read(), 4U);
  EXPECT_THAT(
      lines, ElementsAre("0 2026-11-21 10:00:01 a", "0 traceback",
                         "1 2026-11-21 10:00:03 b", "0 2026-11-21 10:00:05 c"));
}

TEST_F(RankLogsTest, MergesLineByLineWhereThereAreNoTimes) {
  Append("rank0.out", "a\nb\n");
  Append("rank1.out", "a\nb\nc");
  Append("rank0.err", "e\n");
  Append("notes.txt", "no output of a rank\n");
  EXPECT_EQ(*Open().Read(), 6U);
  EXPECT_THAT(lines, ElementsAre("0 a", "1 a", "0 e", "0 b", "1 b", "1 c"));
}

TEST_F(RankLogsTest, ReadsTheRanksThatAreAskedFor) {
  Append("rank0.out", "a\n");
  Append("rank12.out", "b\n");
  EXPECT_EQ(*Open({12}).Read(), 1U);
  EXPECT_THAT(lines, ElementsAre("12 b"));
  RankLogs none = Open({3});
  EXPECT_EQ(*none.Read(), 0U);
  EXPECT_TRUE(none.empty());
}

TEST_F(RankLogsTest, FollowsFilesThatGrowAndThatCome) {
  Append("rank0.out", "a\nhal");
  RankLogs logs = Open({}, true);
  EXPECT_EQ(*logs.Read(), 1U);
  EXPECT_EQ(*logs.Read(), 0U);
  Append("rank0.out", "f\n");
  Append("rank1.out", "b\nlast");
  EXPECT_EQ(*logs.Read(), 2U);
  logs.Finish();
  EXPECT_EQ(*logs.Read(), 1U);
  EXPECT_THAT(lines, ElementsAre("0 a", "1 b", "0 half", "1 last"));
}

}  // namespace
}  // namespace muster::cli
