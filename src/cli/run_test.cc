// SPDX-License-Identifier: Apache-2.0
#include "cli/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sys/fake/fake_clock.h"
#include "sys/fake/fake_env.h"
#include "sys/fake/fake_fs.h"

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RunVerbTest : public ::testing::Test {
 protected:
  // `muster run` with these words.
  void Parse(std::vector<std::string> words) {
    words.insert(words.begin(), "run");
    auto parsed = ParseCommandLine(words);
    ASSERT_TRUE(parsed) << parsed.error().ToString();
    line = *std::move(parsed);
  }
  std::vector<std::string> Arguments() const {
    return AgentArguments(line, env);
  }
  Result<int> Start() {
    const auto read = settings::ReadSettings(line.settings, env);
    EXPECT_TRUE(read);
    return RunVerb(line, *read, host);
  }
  Cause WhyNot() {
    const auto code = Start();
    EXPECT_FALSE(code);
    return code ? Cause::kInternalError : code.error().cause();
  }

  CommandLine line;
  sys::FakeEnv env;
  sys::FakeClock clock;
  sys::FakeFs fs;
  const sys::Host host{.env = env, .clock = clock, .fs = fs};
};

TEST_F(RunVerbTest, AnAgentIsStartedHereAndGetsTheCommand) {
  Parse({"--start", "ssh", "--hosts", "a,b", "--", "sh", "-c", "a -- b"});
  EXPECT_THAT(Arguments(), ElementsAre("--start", "here", "--config", "none",
                                       "--", "sh", "-c", "a -- b"));
}

TEST_F(RunVerbTest, AnAgentGetsSettingsOfFlagsAndOfTheEnvironment) {
  env.variables = {{"MUSTER_GRACE", "2s"}, {"MUSTER_MAX_RESTARTS", "7"}};
  Parse({"--max-restarts", "1", "--", "true"});
  EXPECT_THAT(Arguments(), ElementsAre("--start", "here", "--config", "none",
                                       "--max-restarts", "1", "--grace", "2s",
                                       "--", "true"));
}

TEST_F(RunVerbTest, AnAgentGetsNoSettingOfThisEndAlone) {
  Parse({"--tpu", "t", "--recreate", "--start", "ssh", "--token-file", "/t",
         "--deadline", "1min", "--poll", "1s", "--max-recreates", "9", "--",
         "true"});
  EXPECT_THAT(Arguments(),
              ElementsAre("--start", "here", "--config", "none", "--", "true"));
}

TEST_F(RunVerbTest, AnAgentGetsNoSettingOfOtherVerbs) {
  env.variables = {{"MUSTER_FAIL_ON", "never"}, {"MUSTER_TIMEOUT", "1s"}};
  Parse({"--", "true"});
  EXPECT_THAT(Arguments(),
              ElementsAre("--start", "here", "--config", "none", "--", "true"));
}

TEST_F(RunVerbTest, AnAgentGetsTheEnvironmentOfTheRanks) {
  Parse({"--env", "A=1=2", "--env", "B=", "--", "true"});
  EXPECT_THAT(Arguments(),
              ElementsAre("--start", "here", "--config", "none", "--env",
                          "A=1=2", "--env", "B=", "--", "true"));
}

TEST_F(RunVerbTest, WhatAnAgentGetsIsACommandLine) {
  env.variables = {{"MUSTER_GRACE", "2s"}};
  Parse({"--env", "A=1", "--output", "json", "--", "true"});
  std::vector<std::string> words = Arguments();
  Parse(words);
  EXPECT_EQ(line.command, std::vector<std::string>{"true"});
  EXPECT_EQ(line.settings["output"], "json");
  EXPECT_EQ(line.settings["grace"], "2s");
}

TEST_F(RunVerbTest, ACopyNeedsSsh) {
  Parse({"--dry-run", "--tpu", "t", "--start", "here", "--copy", "train", "--",
         "true"});
  EXPECT_EQ(WhyNot(), Cause::kUsageInvalid);
}

TEST_F(RunVerbTest, SshNeedsHosts) {
  Parse({"--start", "ssh", "-n", "2", "--", "true"});
  EXPECT_EQ(WhyNot(), Cause::kUsageInvalid);
}

TEST_F(RunVerbTest, WhoStartsAllNeedNotBeOneOfThem) {
  Parse({"--dry-run", "--start", "ssh", "--hosts", "a,b", "--", "true"});
  ::testing::internal::CaptureStdout();
  const auto code = Start();
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("true"));
  ASSERT_TRUE(code) << code.error().ToString();
  EXPECT_EQ(*code, 0);
}

TEST_F(RunVerbTest, HereItHasToBeOneOfThem) {
  Parse({"--dry-run", "--hosts", "a,b", "--", "true"});
  EXPECT_FALSE(Start());
}

}  // namespace
}  // namespace muster::cli
