// SPDX-License-Identifier: Apache-2.0
#include "record/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "record/events.h"
#include "record/testing.h"
#include "sys/fake/fake_fs.h"

namespace muster::record {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

constexpr const char* kRun = "20261121-143519-7k2m";
const IsWritten kWritten = [](const std::string&) { return true; };
const IsWritten kNotWritten = [](const std::string&) { return false; };
const IsWritten kWhoKnows = [](const std::string&) {
  return std::optional<bool>();
};

std::string LinesOf(const std::vector<Fact>& facts) {
  std::string text;
  for (const Fact& fact : facts) {
    text += Dump(ToJson(fact)) + "\n";
  }
  return text;
}

class RunFolderTest : public ::testing::Test {
 protected:
  void Put(const std::string& name, const std::string& text) {
    fs.files["runs/" + std::string(kRun) + "/" + name] = text;
  }
  RunSummary Read(const IsWritten& is_written) {
    return ReadRun(fs, "runs", kRun, is_written);
  }
  sys::FakeFs fs;
};

TEST_F(RunFolderTest, OfARunThatEndedTellsItsReport) {
  const auto story = testing::Undisturbed();
  Put("report.json", Dump(story.Report()));
  const RunSummary run = Read(kNotWritten);
  EXPECT_EQ(run.state, RunState::kEnded);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.ranks, 2);
  EXPECT_THAT(run.command, ElementsAre("python3", "a b.py"));
  EXPECT_EQ(run.text, "all 2 ranks succeeded");
  EXPECT_TRUE(run.started && run.ended);
}

TEST_F(RunFolderTest, OfARunWithoutAReportTellsItsEvents) {
  Put("events.jsonl", LinesOf(testing::Story().Begins().Launches().facts()) +
                          "{\"name\": \"run.en");
  EXPECT_EQ(Read(kWritten).state, RunState::kRunning);
  EXPECT_EQ(Read(kNotWritten).state, RunState::kLost);
  EXPECT_EQ(Read(kWhoKnows).state, RunState::kUnknown);
  EXPECT_THAT(Read(kWritten).command, ElementsAre("python3", "a b.py"));
}

TEST_F(RunFolderTest, ListsRunsAndNothingElse) {
  EXPECT_THAT(*RunIds(fs, "runs"), IsEmpty());
  Put("events.jsonl", "");
  fs.files["runs/20261122-000000-aaaa/report.json"] = "";
  fs.files["runs/20261123-000000-aaaa/logs/a1/rank0.out"] = "";
  fs.files["runs/notes/x.txt"] = "";
  fs.files["runs/latest/report.json"] = "";
  fs.directories.insert("runs/20261123-000000-aaaa/logs");
  EXPECT_THAT(*RunIds(fs, "runs"), ElementsAre("20261123-000000-aaaa",
                                               "20261122-000000-aaaa", kRun));
}

RunSummary Ended(const char* id, int hours_ago, RunState state) {
  RunSummary run{.id = id, .state = state};
  run.ended = WallTime(1000h) - std::chrono::hours(hours_ago);
  return run;
}

TEST(RunsToPrune, KeepsTheNewestTheYoungAndTheRunning) {
  const std::vector<RunSummary> runs{
      Ended("f", 1, RunState::kEnded), Ended("e", 2, RunState::kRunning),
      Ended("d", 3, RunState::kEnded), Ended("c", 30, RunState::kUnknown),
      Ended("b", 40, RunState::kLost), Ended("a", 50, RunState::kEnded)};
  const WallTime now(1000h);
  EXPECT_THAT(RunsToPrune(runs, {.keep = 2}, now), ElementsAre("d", "b", "a"));
  EXPECT_THAT(RunsToPrune(runs, {.older = 24h}, now), ElementsAre("b", "a"));
  EXPECT_THAT(RunsToPrune(runs, {.keep = 5, .older = 24h}, now),
              ElementsAre("a"));
  EXPECT_THAT(RunsToPrune(runs, {.keep = 0, .older = 41h}, now),
              ElementsAre("a"));
}

}  // namespace
}  // namespace muster::record
