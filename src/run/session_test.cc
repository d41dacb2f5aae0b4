// SPDX-License-Identifier: Apache-2.0
// From what was asked for to an exit code: dry runs without a machine, and
// runs with real processes.
#include "run/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "base/json.h"
#include "sys/fake/fake_clock.h"
#include "sys/fake/fake_env.h"
#include "sys/fake/fake_fs.h"
#include "sys/testing.h"

namespace muster::run {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::internal::CaptureStderr;
using ::testing::internal::CaptureStdout;
using ::testing::internal::GetCapturedStderr;
using ::testing::internal::GetCapturedStdout;

Preflight NoPreflight(const Cluster& /*cluster*/) {
  return {};
}

class DryRunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Set({});
    flags.dry_run = true;
    flags.command = {"python", "a b.py"};
  }
  void Set(const std::map<std::string, std::string>& given) {
    flags.settings = *settings::ReadSettings(given, env);
  }
  // What is printed, and on failure nothing.
  std::string Printed() {
    CaptureStdout();
    const auto code = run::Run(flags, host, nullptr, [](const Cluster&) {
      ADD_FAILURE() << "nothing is started";
      return Preflight();
    });
    const std::string printed = GetCapturedStdout();
    EXPECT_TRUE(code && *code == 0);
    return printed;
  }
  Json Plan() {
    Set({{"output", "json"}});
    return Json::parse(Printed(), nullptr, false);
  }

  sys::FakeEnv env;
  sys::FakeClock clock;
  sys::FakeFs fs;
  const sys::Host host{.env = env, .clock = clock, .fs = fs};
  settings::RunFlags flags;
};

TEST_F(DryRunTest, TellsWhatEachRankWouldGetAndWhereThatIsFrom) {
  flags.cluster.processes = 2;
  flags.environment = {{"A", "1"}, {"A", "2"}};
  const Json plan = Plan();
  ASSERT_EQ(plan["ranks"].size(), 2U) << plan;
  EXPECT_EQ(plan["world_size"], 2);
  EXPECT_EQ(plan["ranks"][1]["argv"], Json(flags.command));
  EXPECT_EQ(plan["ranks"][1]["environment"]["RANK"]["value"], "1");
  EXPECT_EQ(plan["ranks"][1]["environment"]["A"]["value"], "2");
  EXPECT_NE(plan["ranks"][1]["environment"]["A"]["source"], "");
}

TEST_F(DryRunTest, WritesNothing) {
  flags.cluster.processes = 1;
  EXPECT_THAT(Printed(), HasSubstr("python"));
  EXPECT_THAT(fs.files, IsEmpty());
}

TEST_F(DryRunTest, HasAnAgentForEachHost) {
  flags.cluster.hosts = "a,b,c";
  flags.cluster.rank = 1;
  const Json plan = Plan();
  ASSERT_EQ(plan["ranks"].size(), 3U) << plan;
  EXPECT_EQ(plan["ranks"][2]["local_size"], 1);
  EXPECT_NE(plan["ranks"][2]["agent"], plan["ranks"][1]["agent"]);
}

TEST_F(DryRunTest, OfAClusterThatIsNoneIsRefused) {
  flags.cluster.hosts = "a,b";
  flags.cluster.rank = 2;
  const auto code = run::Run(flags, host, nullptr, NoPreflight);
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().cause(), Cause::kRankWorldMismatch);
}

// Two ranks of this machine.
class RunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    flags.cluster.processes = 2;
    Set({});
  }
  void Set(std::map<std::string, std::string> given) {
    given["runs_dir"] = folder / "runs";
    given["max_restarts"] = "0";
    flags.settings = *settings::ReadSettings(given, env);
  }
  // The exit code of that command.
  int CodeOf(const std::vector<std::string>& command) {
    flags.command = command;
    CaptureStderr();
    auto code = run::Run(flags, host, sys::GuardianSpawner::Fork().value(),
                         [this](const Cluster& cluster) {
                           seen = cluster;
                           return preflight;
                         });
    said = GetCapturedStderr();
    EXPECT_TRUE(code) << said;
    return std::move(code).value_or(-1);
  }
  int CodeOfShell(const std::string& script) {
    return CodeOf({"/bin/sh", "-c", script});
  }
  // What the report says of the end.
  Json Exit() const {
    auto text = fs.Read(folder / "runs/latest/report.json");
    EXPECT_TRUE(text);
    const std::string json = std::move(text).value_or("{}");
    return Json::parse(json, nullptr, false)["exit"];
  }

  sys::TemporaryFolder folder;
  sys::RealEnv env;
  sys::RealClock clock;
  sys::RealFs fs;
  const sys::Host host{.env = env, .clock = clock, .fs = fs};
  settings::RunFlags flags;
  Preflight preflight;
  std::optional<Cluster> seen;
  std::string said;  // on stderr
};

TEST_F(RunTest, ThatEndsWellIsZero) {
  EXPECT_EQ(CodeOf({"/bin/true"}), 0);
  EXPECT_EQ(Exit()["code"], 0);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->members.size(), 2U);
}

TEST_F(RunTest, ThatFailsHasTheStatusOfTheProgram) {
  EXPECT_EQ(CodeOf({"/bin/false"}), 1);
  EXPECT_EQ(Exit()["code"], 1);
  EXPECT_EQ(Exit()["origin"], "program");
}

TEST_F(RunTest, TheLastLineSaysWhoseCodeItIsAndWhereToReadOn) {
  EXPECT_EQ(CodeOf({"/bin/false"}), 1);
  EXPECT_THAT(said, HasSubstr("exit code 1 (program)"));
  EXPECT_THAT(said, EndsWith("/report.md\n"));
}

TEST_F(RunTest, ThatIsKilledHasTheSignal) {
  EXPECT_EQ(CodeOfShell("test $RANK = 0 || kill -9 $$; sleep 600"), 128 + 9);
  EXPECT_EQ(Exit()["origin"], "signal");
}

TEST_F(RunTest, OfAProgramThatIsNotThere) {
  EXPECT_EQ(CodeOf({folder / "none"}), 127);
}

TEST_F(RunTest, OfAFileThatIsNoProgram) {
  std::ofstream(folder / "data") << "x";
  EXPECT_EQ(CodeOf({folder / "data"}), 126);
}

TEST_F(RunTest, WhatTheRanksWriteIsKept) {
  EXPECT_EQ(CodeOfShell("echo out $RANK"), 0);
  EXPECT_EQ(*fs.Read(folder / "runs/latest/logs/a1/rank1.out"), "out 1\n");
}

TEST_F(RunTest, ACheckThatFindsAnErrorKeepsItFromBeginning) {
  preflight.checks = [](int) {
    return std::vector{
        MakeFinding(Cause::kDiskFull, "no space", Confidence::kCertain)};
  };
  EXPECT_EQ(CodeOfShell("echo x >'" + folder / "begun" + "'"), 125);
  EXPECT_FALSE(fs.Exists(folder / "begun"));
}

TEST_F(RunTest, OneDocumentAndNothingElseIsOnStdout) {
  Set({{"output", "json"}});
  CaptureStdout();
  EXPECT_EQ(CodeOfShell("echo of the rank"), 0);
  const Json report = Json::parse(GetCapturedStdout(), nullptr, false);
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report["exit"]["code"], 0);
}

}  // namespace
}  // namespace muster::run
