// SPDX-License-Identifier: Apache-2.0
#include "record/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "finding/finding.h"
#include "record/events.h"
#include "record/testing.h"

namespace muster::record {
namespace {

using record::testing::Story;
using record::testing::Trained;
using record::testing::Undisturbed;

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Killed at step 150, resumed from 100, done at 200.
Story Restarted() {
  auto resumed = Trained(200, 100);
  resumed.resumed_step = 100;
  return Story()
      .Begins()
      .Launches()
      .Exits(0, Trained(149, 149))
      .Exits(1, Trained(150, 150))
      .Tell(kAttemptFailed)
      .With("cause", "peer-died")
      .With("rank", std::int64_t{1})
      .With("signal_name", "SIGKILL")
      .Tell(kAttemptStopped)
      .Tell(kDecided)
      .With("text", "restart 1 of 3")
      .Launches(2)
      .Exits(0, resumed, 2)
      .Exits(1, resumed, 2)
      .Ends(0);
}

TEST(Report, SaysWhatRanAndHowItEnded) {
  const Json report = Undisturbed().Report();
  EXPECT_EQ(report["schema"], "muster.report/1");
  EXPECT_EQ(report["run"], "r");
  EXPECT_EQ(report["command"][1], "a b.py");
  EXPECT_EQ(report["exit"]["code"], 0);
  EXPECT_TRUE(report["exit"]["cause"].is_null());
  EXPECT_EQ(report["duration_s"], 6);
  EXPECT_EQ(report["training"]["step"], 200);
  EXPECT_EQ(report["training"]["steps_per_s"], 100);
  EXPECT_EQ(report["training"]["samples_per_s"], 12800);
  EXPECT_EQ(report["training"]["final_loss"], 0.5);
  EXPECT_EQ(report["next"]["command"], "tensorboard --logdir runs/r/metrics");
}

TEST(Report, SaysWhereTheTimeWent) {
  const Json time = Undisturbed().Report()["time"];
  EXPECT_EQ(time["total_s"], 6);
  EXPECT_EQ(time["wait_for_members_s"], 1);
  EXPECT_EQ(time["start_s"], 1);
  EXPECT_EQ(time["step_s"], 1.8);
  EXPECT_EQ(time["input_wait_s"], 0.2);
  EXPECT_EQ(time["lost_by_failures_s"], 0);
  EXPECT_EQ(time["other_s"], 2);
}

TEST(Report, ARestartNamesRankSignalAndLostSteps) {
  const Json report = Restarted().Report();
  ASSERT_THAT(report["attempts"], SizeIs(2));
  const Json& failure = report["attempts"][0]["failure"];
  EXPECT_EQ(failure["rank"], 1);
  EXPECT_EQ(failure["signal"], "SIGKILL");
  EXPECT_EQ(failure["step"], 150);
  EXPECT_EQ(failure["resumed_from"], 100);
  EXPECT_EQ(failure["lost_steps"], 50);
  EXPECT_EQ(report["attempts"][0]["decision"], "restart 1 of 3");
  EXPECT_TRUE(report["attempts"][1]["failure"].is_null());
}

TEST(Report, CountsLostStepsAndTheRestartAsLostTime) {
  const Json time = Restarted().Report()["time"];
  // A third of the first attempt's 1.495 s, and 6 s to the next first step.
  EXPECT_NEAR(time["lost_by_failures_s"].get<double>(), 6.5, 0.01);
  EXPECT_EQ(time["wait_for_members_s"], 1);
  EXPECT_EQ(time["start_s"], 1);
}

TEST(Report, KnowsNothingOfStepsThatNobodyReports) {
  const Json report = Story()
                          .Begins()
                          .Launches()
                          .Exits(0, {})
                          .Tell(kAttemptFailed)
                          .With("cause", "app-exception")
                          .Ends(3)
                          .Report();
  EXPECT_TRUE(report["training"].is_null());
  EXPECT_TRUE(report["attempts"][0]["failure"]["lost_steps"].is_null());
  EXPECT_EQ(report["next"]["command"], "muster explain app-exception");
}

TEST(Report, KeepsALossThatIsNoNumberOutOfTheMean) {
  auto progress = Trained(200, 200);
  progress.loss = std::numeric_limits<double>::quiet_NaN();
  const Json report =
      Story().Begins().Launches().Exits(0, progress).Ends(0).Report();
  EXPECT_TRUE(report["training"]["final_loss"].is_null());
}

TEST(Report, OfAnUnfinishedRunSaysSo) {
  const Json report = Story().Begins().Launches().Report();
  EXPECT_TRUE(report["exit"].is_null());
  EXPECT_THAT(RenderReport(report), HasSubstr("# Run r: not finished"));
  EXPECT_THAT(RenderReport(BuildReport({})), HasSubstr("not finished"));
}

TEST(Report, EmbedsFindingsUnchanged) {
  const auto finding =
      MakeFinding(Cause::kPeerDied, "rank 1 died", Confidence::kCertain);
  auto story = Undisturbed();
  story.Tell(kFinding).With("finding", ToJson(finding).dump());
  const Json report = story.Report();
  EXPECT_EQ(report["findings"][0], ToJson(finding));
  EXPECT_THAT(RenderReport(report), HasSubstr("rank 1 died"));
}

TEST(Report, PutsLastWhatWasSaidBeforeTheStart) {
  const auto of = [](const char* what) {
    return ToJson(MakeFinding(Cause::kOsLimit, what, Confidence::kCertain));
  };
  auto story = Undisturbed();
  story.Tell(kFinding).With("finding", of("low").dump()).With("beside", true);
  story.Tell(kFinding).With("finding", of("died").dump());
  const Json report = story.Report();
  ASSERT_EQ(report["findings"].size(), 2U);
  EXPECT_EQ(report["findings"][0], of("died"));
  EXPECT_EQ(report["findings"][1], of("low"));
}

TEST(Report, SaysWhatHeldTheProcessesOfEachHost) {
  const auto held = [](std::string host, std::string field, std::string text) {
    return Fact{.name = std::string(kContainment),
                .fields = {{"by", field == "cgroup" ? field : "process tree"},
                           {field, std::move(text)}},
                .subject = std::move(host)};
  };
  const std::vector<Fact> facts = {held("b", "why_not", "no \x1b[5m"),
                                   held("a", "cgroup", "/g/muster-1"),
                                   held("a", "cgroup", "/g/muster-2")};
  const Json report = BuildReport(facts);
  ASSERT_THAT(report["containment"], SizeIs(2));
  EXPECT_EQ(report["containment"][0]["cgroup"], "/g/muster-2");
  const std::string text = RenderReport(report);
  EXPECT_THAT(text, HasSubstr("on host a held by cgroup /g/muster-2\n"));
  EXPECT_THAT(text, HasSubstr("on host b held by process tree; no cgroup: no "
                              "\\x1b[5m\n"));
}

TEST(ReportText, ShowsTheRestart) {
  const std::string text = RenderReport(Restarted().Report());
  EXPECT_THAT(text, HasSubstr("# Run r: finished"));
  EXPECT_THAT(text, HasSubstr("rank 1 was killed by SIGKILL: peer-died | 150 | "
                              "100 | 50 | restart 1 of 3 |"));
  EXPECT_THAT(text, HasSubstr("| lost to failures | 6.500 s | "));
}

TEST(ReportText, ShowsARepeatedFindingOnce) {
  const auto finding =
      MakeFinding(Cause::kPeerDied, "rank 1 died", Confidence::kCertain);
  auto story = Undisturbed();
  story.Tell(kFinding).With("finding", ToJson(finding).dump());
  story.Tell(kFinding).With("finding", ToJson(finding).dump());
  const std::string text = RenderReport(story.Report());
  EXPECT_THAT(text, HasSubstr("2 times:"));
  EXPECT_EQ(text.find("rank 1 died"), text.rfind("rank 1 died"));
}

TEST(ReportText, NeverAssertsOnADocument) {
  for (const char* text :
       {"{}", "[]", "3", R"({"attempts": 3, "findings": [3], "exit": 7})",
        R"({"time": [], "notes": {"a": 1}, "next": "x"})",
        R"({"time": {"total_s": 1e-300, "step_s": 1e300}})",
        R"({"host": ["\u001b[2J\u009b"], "attempts": [{"ranks": [
            {"step": 18446744073709551615}]}]})"}) {
    const std::string page = RenderReport(Json::parse(text));
    EXPECT_FALSE(page.empty());
    EXPECT_EQ(page.find("\xc2\x9b"), std::string::npos);
  }
}

}  // namespace
}  // namespace muster::record
