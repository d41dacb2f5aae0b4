// SPDX-License-Identifier: Apache-2.0
#include "record/journal.h"

#include "base/json.h"
#include "sys/fake/fake_clock.h"
#include "sys/fake/fake_env.h"
#include "sys/fake/fake_fs.h"

#include <gtest/gtest.h>

namespace muster::record {
namespace {

constexpr auto kOwner = sys::Fs::Access::kOwner;

class JournalTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Journal>> Open() {
    return Journal::Open(host_, "runs", "id");
  }
  static Fact Named(const std::string& name) {
    Fact fact;
    fact.name = name;
    return fact;
  }

  sys::FakeEnv env_;
  sys::FakeClock clock_;
  sys::FakeFs fs_;
  sys::Host host_{env_, clock_, fs_};
};

TEST(RunId, TellsTimeAndRunsOfOneSecondApart) {
  const WallTime at{std::chrono::seconds(1'795'271'719)};
  EXPECT_EQ(MakeRunId(at, 1).substr(0, 16), "20261121-143519-");
  EXPECT_EQ(MakeRunId(at, 1).size(), 20);
  EXPECT_NE(MakeRunId(at, 1), MakeRunId(at, 2));
}

TEST_F(JournalTest, FactsAreInTheFileAtOnce) {
  auto journal = Open();
  ASSERT_TRUE(journal) << journal.error().ToString();
  (*journal)->Record(Named("a"));
  (*journal)->Note(Named("b"));
  const std::string& lines = fs_.files["runs/id/events.jsonl"];
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2);
  const auto first =
      ParseJson(lines.substr(0, lines.find('\n')), Cause::kFileCorrupt, "line");
  ASSERT_TRUE(first);
  EXPECT_EQ((*first)["name"], "a");
  EXPECT_EQ((*first)["at"], ToString(clock_.wall));
  EXPECT_EQ((*journal)->facts().size(), 1);
  EXPECT_EQ(fs_.files["runs/latest"], "id");
}

TEST_F(JournalTest, AReportOfAnotherHostIsKeptOnce) {
  auto journal = Open();
  (*journal)->Record(Named("run.started"));
  Json report = (*journal)->WriteReport().value();
  report["run"] = "20261121-143519-7k2m";
  ASSERT_TRUE(KeepReport(fs_, "here", report, kOwner));
  const std::string kept = fs_.files["here/20261121-143519-7k2m/report.json"];
  EXPECT_EQ(Json::parse(kept), report);
  EXPECT_NE(fs_.files["here/20261121-143519-7k2m/report.md"], "");
  EXPECT_EQ(fs_.files["here/latest"], "20261121-143519-7k2m");
  report["host"] = "another";
  ASSERT_TRUE(KeepReport(fs_, "here", report, kOwner));
  EXPECT_EQ(fs_.files["here/20261121-143519-7k2m/report.json"], kept);
}

TEST_F(JournalTest, AReportWithoutANameOfItsOwnIsNotKept) {
  for (const Json& run : {Json(), Json(7), Json(""), Json("../x"), Json(".")}) {
    const auto kept = KeepReport(fs_, "here", {{"run", run}}, kOwner);
    ASSERT_FALSE(kept) << run;
    EXPECT_EQ(kept.error().cause(), Cause::kNetWrongEndpoint);
  }
  EXPECT_FALSE(KeepReport(fs_, "here", Json("text"), kOwner));
  EXPECT_TRUE(fs_.files.empty());
}

TEST_F(JournalTest, BrokenTextOfARankDoesNotBreakTheFile) {
  auto journal = Open();
  auto fact = Named("rank.line");
  fact.fields["text"] = std::string("\xff\xfe");
  (*journal)->Note(fact);
  EXPECT_NE(fs_.files["runs/id/events.jsonl"].find("rank.line"),
            std::string::npos);
}

TEST_F(JournalTest, AFullDiskIsToldOnceAndLosesNoFactOfTheReport) {
  auto journal = Open();
  fs_.fail["runs/id/events.jsonl"] = Cause::kDiskFull;
  (*journal)->Record(Named("a"));
  (*journal)->Record(Named("b"));
  EXPECT_EQ((*journal)->facts().size(), 2);
  const auto failure = (*journal)->TakeFailure();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->cause(), Cause::kDiskFull);
  EXPECT_FALSE((*journal)->TakeFailure());
}

TEST_F(JournalTest, WritesBothReports) {
  auto journal = Open();
  ASSERT_TRUE((*journal)->WriteReport());
  EXPECT_TRUE(fs_.files.contains("runs/id/report.json"));
  EXPECT_TRUE(fs_.files.contains("runs/id/report.md"));
  fs_.fail["runs/id/report.json"] = Cause::kDiskFull;
  EXPECT_EQ((*journal)->WriteReport().error().cause(), Cause::kDiskFull);
}

TEST_F(JournalTest, NamesAFolderThatCannotBeMade) {
  fs_.fail["runs/id"] = Cause::kFilePermission;
  EXPECT_EQ(Open().error().cause(), Cause::kFilePermission);
}

}  // namespace
}  // namespace muster::record
