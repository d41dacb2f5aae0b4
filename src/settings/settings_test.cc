// SPDX-License-Identifier: Apache-2.0
#include "settings/settings.h"
#include "sys/fake/fake_env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::settings {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

TEST(Settings, AreDefaultsThatSaySo) {
  auto settings = ReadSettings({}, sys::FakeEnv());
  ASSERT_TRUE(settings) << settings.error().ToString();
  EXPECT_EQ(settings->max_restarts, (Sourced<int>{3, "default"}));
  EXPECT_EQ(settings->gather_timeout.value, 60s);
  EXPECT_EQ(settings->progress_timeout.value, kAuto);
  EXPECT_EQ(settings->port_range.value, (PortRange{20000, 29999}));
}

TEST(Settings, OfAFileMayBeNone) {
  sys::FakeEnv env;
  EXPECT_EQ(ReadSettings({}, env)->token_file,
            (Sourced<std::string>{"", "default"}));
  env.variables = {{"MUSTER_TOKEN_FILE", "/run/token"}};
  EXPECT_EQ(ReadSettings({}, env)->token_file,
            (Sourced<std::string>{"/run/token", "env MUSTER_TOKEN_FILE"}));
  EXPECT_EQ(ReadSettings({{"token_file", "none"}}, env)->token_file.value, "");
}

TEST(Settings, ComeFromTheEnvironmentAndBeforeThatFromFlags) {
  sys::FakeEnv env;
  env.variables = {{"MUSTER_GRACE", "2s"}, {"MUSTER_OUTPUT", ""}};
  EXPECT_EQ(ReadSettings({}, env)->grace,
            (Sourced<Duration>{2s, "env MUSTER_GRACE"}));
  EXPECT_EQ(ReadSettings({{"grace", "500ms"}}, env)->grace,
            (Sourced<Duration>{500ms, "flag --grace"}));
  EXPECT_EQ(ReadSettings({}, env)->output.source, "default");
}

struct Bad {
  const char* variable;
  const char* value;
  const char* expected;
};
class BadSetting : public testing::TestWithParam<Bad> {};

TEST_P(BadSetting, NamesVariableValueAndWhatIsRight) {
  sys::FakeEnv env;
  env.variables = {{GetParam().variable, GetParam().value}};
  auto settings = ReadSettings({}, env);
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().cause(), Cause::kUsageInvalid);
  EXPECT_THAT(settings.error().message(),
              AllOf(HasSubstr(GetParam().variable), HasSubstr(GetParam().value),
                    HasSubstr(GetParam().expected)));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadSetting,
    testing::Values(Bad{"MUSTER_OUTPUT", "yaml", "text, json or jsonl"},
                    Bad{"MUSTER_LOG_LEVEL", "loud", "trace, debug"},
                    Bad{"MUSTER_MAX_RESTARTS", "-1", "whole number"},
                    Bad{"MUSTER_MAX_RESTARTS", "3.5", "whole number"},
                    Bad{"MUSTER_GRACE", "soon", "a duration such as"},
                    Bad{"MUSTER_GRACE", "auto", "a duration such as"},
                    Bad{"MUSTER_PROGRESS_TIMEOUT", "0", "auto, none"},
                    Bad{"MUSTER_PORT_RANGE", "20000", "FIRST-LAST"},
                    Bad{"MUSTER_PORT_RANGE", "30000-20000", "FIRST-LAST"},
                    Bad{"MUSTER_PORT_RANGE", "1-65536", "FIRST-LAST"}));

TEST(Settings, RemarkVariablesThatAreMisspelt) {
  sys::FakeEnv env;
  env.variables = {{"MUSTER_GRASE", "1"},
                   {"MUSTER_RANK", "0"},
                   {"MUSTER_SOMETHING_ELSE", "1"}};
  EXPECT_THAT(
      MisspeltVariables(env),
      ElementsAre("MUSTER_GRASE is not a setting, did you mean MUSTER_GRACE?"));
}

}  // namespace
}  // namespace muster::settings
