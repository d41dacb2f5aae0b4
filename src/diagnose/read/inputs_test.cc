// SPDX-License-Identifier: Apache-2.0
#include "diagnose/read/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/json.h"
#include "diagnose/read/byte_sink.h"
#include "diagnose/read/testing.h"
#include "sys/fake/fake_clock.h"
#include "sys/testing.h"

namespace muster::diagnose {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(RankOfAName, IsReadFromUsualNames) {
  EXPECT_EQ(ReadRanks("logs/a1/rank3.err", nullptr).of_process, 3);
  EXPECT_EQ(ReadRanks("worker-12.log", nullptr).of_process, 12);
  EXPECT_EQ(ReadRanks("train.log", nullptr).of_process, -1);
  EXPECT_EQ(ReadRanks("log_node0_rank3.txt", nullptr).of_process, 3);
  const auto own = RankPattern::Make(R"(out\.(\d+))");
  ASSERT_TRUE(own);
  EXPECT_EQ(ReadRanks("out.7.txt", &*own).of_process, 7);
  EXPECT_EQ(ReadRanks("rank3.err", &*own).of_process, -1);
}

TEST(RankOfAName, OfAHostIsNoneOfItsProcesses) {
  EXPECT_EQ(ReadRanks("node1.log", nullptr).of_process, -1);
  EXPECT_EQ(ReadRanks("node1.log", nullptr).host, "node1");
  EXPECT_EQ(ReadRanks("host-10.0.0.3.log", nullptr).host, "");
  EXPECT_EQ(ReadRanks("node-2024-10-09.log", nullptr).host, "");
}

TEST(Ranks, APatternHasAGroupAndCompiles) {
  for (const char* pattern : {"worker", "(", "[", ""}) {
    const auto made = RankPattern::Make(pattern);
    ASSERT_FALSE(made) << pattern;
    EXPECT_EQ(made.error().cause(), Cause::kUsageInvalid);
  }
}

TEST(Inputs, ReadsAFolderAndSaysWhatItSkipped) {
  const sys::TemporaryFolder folder;
  std::ofstream(folder / "rank0.err") << kLog;
  std::ofstream(folder / "model.pt") << "out of disk on sdz\n";
  const Matcher matcher(kInputRows);
  const std::string inputs[] = {folder.path()};
  const auto reading = ReadInputs(inputs, {}, matcher);
  ASSERT_TRUE(reading);
  ASSERT_EQ(reading->facts.size(), 2U);
  EXPECT_EQ(reading->facts[0].subject, "rank 0");
  EXPECT_EQ(reading->facts[1].name, kEnd);
  EXPECT_THAT(reading->unread, testing::IsEmpty());
  EXPECT_THAT(reading->skipped, ElementsAre(HasSubstr("model.pt")));
  EXPECT_EQ(reading->files, 1U);
}

// A folder with these files, for the time of a test.
class InputFolder {
 public:
  explicit InputFolder(const std::map<std::string, std::string>& files) {
    for (const auto& [name, bytes] : files) {
      std::ofstream(folder_ / name) << bytes;
    }
  }
  const std::string& path() const { return folder_.path(); }

  Result<Reading> Read(const std::vector<std::string>& names) const {
    std::vector<std::string> inputs;
    for (const std::string& name : names) {
      inputs.push_back(name.empty() ? path() : folder_ / name);
    }
    return ReadInputs(inputs, {}, Matcher(kInputRows));
  }

 private:
  sys::TemporaryFolder folder_;
};

TEST(Inputs, WithoutTextAreAnErrorThatSaysWhy) {
  using std::string_literals::operator""s;
  const std::string gzip = Deflated(kLog, 31);
  const InputFolder folder(
      {{"a.log.xz",
        "\xFD"
        "7zXZ\0\0\4"s},
       {"b.log.gz", gzip.substr(0, 10) + std::string(40, '\xff')},
       {"c.zip", ZipMember("c", kLog, true).substr(0, 20)},
       {"d.log", ""},
       {"e.ipynb", R"({"cells": [], "metadata": {}})"}});
  const std::pair<std::string, std::string> named[] = {
      {"a.log.xz", "xz: unpack it first (xz -d)"},
      {"b.log.gz", "corrupt gzip, read only the beginning"},
      {"c.zip", "incomplete zip, read only the beginning"},
      {"d.log", "it is empty"},
      {"e.ipynb", "it contains no text"}};
  for (const auto& [name, why] : named) {
    const auto reading = folder.Read({name});
    ASSERT_FALSE(reading) << name;
    EXPECT_EQ(reading.error().cause(), Cause::kUsageInvalid);
    EXPECT_THAT(reading.error().message(), HasSubstr(name + ": " + why));
  }
  EXPECT_FALSE(folder.Read({""}));
}

TEST(Inputs, OfAFolderWithoutTextAreAnError) {
  const InputFolder binary({{"core", "\x7F" + std::string(99, '\1')}});
  const auto reading = binary.Read({""});
  ASSERT_FALSE(reading);
  EXPECT_THAT(reading.error().message(),
              HasSubstr(binary.path() + ": it contains no text logs"));
}

TEST(Inputs, OfAnEmptyFolderAreAnErrorThatNamesIt) {
  const InputFolder empty({});
  const auto reading = empty.Read({""});
  ASSERT_FALSE(reading);
  EXPECT_THAT(reading.error().message(),
              HasSubstr(empty.path() + ": it contains no files"));
}

TEST(Inputs, ThatCannotBeReadAreNotedBesideOthers) {
  const InputFolder folder({{"a.log", std::string(kLog)}, {"b.log", ""}});
  const auto reading = folder.Read({"a.log", "b.log", "missing.log"});
  ASSERT_TRUE(reading) << reading.error().ToString();
  EXPECT_EQ(reading->files, 1U);
  EXPECT_THAT(reading->unread, ElementsAre(HasSubstr("b.log: it is empty"),
                                           HasSubstr("missing.log")));
}

TEST(Inputs, OfARunsFolderAreItsLogsAndWhatItFoundOutItself) {
  const sys::TemporaryFolder folder;
  Json report{{"schema", "muster.report/1"}};
  report["findings"] = Json::array(
      {ToJson(MakeFinding(Cause::kDiskFull, "rank 1 ended: out of disk on sda",
                          Confidence::kCertain))});
  report["exit"] = {{"code", 1}, {"origin", "program"}};
  std::ofstream(folder / "report.json") << Dump(report, 2);
  std::ofstream(folder / "report.md")
      << "# Run 1: failed\n\n- started today\n- out of disk on sda\n";
  std::ofstream(folder / "events.jsonl")
      << "{\"name\":\"run.started\"}\n{\"text\":\"out of disk on sda\"}\n";
  std::ofstream(folder / "rank1.err") << kLog;
  const Matcher matcher(kInputRows);
  const std::vector<std::string> inputs{folder.path()};
  const auto reading = ReadInputs(inputs, {}, matcher);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const std::vector<std::string> from_inside{"report.json"};
  const auto inside = ReadInputs(from_inside, {}, matcher);
  std::filesystem::current_path(before);
  ASSERT_TRUE(inside) << inside.error().ToString();
  EXPECT_EQ(inside->facts.back().Text("below"), "./");
  ASSERT_TRUE(reading) << reading.error().ToString();
  ASSERT_EQ(reading->reported.size(), 1U);
  EXPECT_EQ(reading->reported[0].cause, Cause::kDiskFull);
  ASSERT_EQ(reading->facts.size(), 3U);
  EXPECT_THAT(reading->facts[0].by, HasSubstr("rank1.err"));
  EXPECT_EQ(reading->facts[1].name, kEnd);
  EXPECT_EQ(reading->facts[2].Text("code"), "1");
  EXPECT_EQ(reading->facts[2].Text("below"), folder / "");
}

TEST(Inputs, WhatMusterEndedItselfHasNoStatusOfAProgram) {
  const sys::TemporaryFolder folder;
  for (const char* exit :
       {"null", "7", R"({"code": "0", "origin": "program"})",
        R"({"code": 75, "origin": "muster"})", R"({"origin": "program"})"}) {
    std::ofstream(folder / "report.json")
        << R"({"schema": "muster.report/1", "findings": [], "exit": )" << exit
        << "}";
    const std::vector<std::string> inputs{folder.path()};
    const auto reading = ReadInputs(inputs, {}, Matcher(kInputRows));
    ASSERT_TRUE(reading) << exit;
    EXPECT_TRUE(reading->facts.empty()) << exit;
  }
}

// 6 s at 1 s a reading of the clock: enough for one small archive.
TEST(Inputs, OfArchivesAreReadUntilTheirCpuTimeIsUsedUp) {
  const std::string gzip = Deflated(kLog, 31);
  const std::string large =
      Deflated(std::string(kLog) + std::string(1 << 20, '\n'), 31);
  const InputFolder folder({{"a.log.gz", gzip},
                            {"b.log.gz", large},
                            {"c.log.gz", gzip},
                            {"d.log", std::string(kLog)}});
  sys::FakeClock clock;
  clock.cpu_of_a_reading = std::chrono::seconds(1);
  const std::string inputs[] = {folder.path()};
  const auto reading = ReadInputs(
      inputs,
      {.rank_from = {}, .clock = &clock, .max_cpu = std::chrono::seconds(6)},
      Matcher(kInputRows));
  ASSERT_TRUE(reading) << reading.error().ToString();
  EXPECT_THAT(
      reading->unread,
      ElementsAre(HasSubstr("b.log.gz: the CPU time for archives (6.0 s, "
                            "--max-cpu) is used up, read only the beginning"),
                  HasSubstr("c.log.gz: not unpacked, the CPU time for archives "
                            "(6.0 s, --max-cpu) is used up")));
  EXPECT_EQ(reading->files, 3U);
}

TEST(Inputs, BelowAFolderAreNoLinksThatLeaveIt) {
  const InputFolder elsewhere({{"secret", std::string(kLog)}});
  const InputFolder folder({{"rank1.log", std::string(kLog)}});
  namespace fs = std::filesystem;
  fs::create_symlink(elsewhere.path() + "/secret", folder.path() + "/out.log");
  fs::create_symlink("rank1.log", folder.path() + "/latest.log");
  fs::create_directory_symlink(elsewhere.path(), folder.path() + "/deep");
  fs::create_directory_symlink(folder.path(), elsewhere.path() + "/named");
  const std::string inputs[] = {elsewhere.path() + "/named"};
  const auto reading = ReadInputs(inputs, {}, Matcher(kInputRows));
  ASSERT_TRUE(reading) << reading.error().ToString();
  EXPECT_EQ(reading->files, 2U);  // and one of them by its other name
  EXPECT_THAT(reading->unread,
              ElementsAre(HasSubstr("out.log` is a symbolic link that may lead "
                                    "out of")));
}

TEST(Inputs, AReportThatNestsForEverIsUnreadable) {
  const sys::TemporaryFolder folder;
  constexpr std::size_t kDeep = 200'000;
  std::ofstream(folder / "report.json")
      << R"({"schema": "muster.report/1", "findings": [], "exit": )"
      << std::string(kDeep, '[') << std::string(kDeep, ']') << "}";
  std::ofstream(folder / "rank1.err") << kLog;
  const std::vector<std::string> inputs{folder.path()};
  const auto reading = ReadInputs(inputs, {}, Matcher(kInputRows));
  ASSERT_TRUE(reading) << reading.error().ToString();
  EXPECT_THAT(reading->unread, ElementsAre(HasSubstr("unreadable run report")));
}

TEST(Inputs, NothingToReadIsAnError) {
  const std::string inputs[] = {"/no/such/file"};
  const auto reading = ReadInputs(inputs, {}, Matcher(kInputRows));
  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.error().cause(), Cause::kFileMissing);
}

}  // namespace
}  // namespace muster::diagnose
