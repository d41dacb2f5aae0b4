// SPDX-License-Identifier: Apache-2.0
#include "settings/settings_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "settings/settings.h"
#include "sys/fake/fake_clock.h"
#include "sys/fake/fake_env.h"
#include "sys/fake/fake_fs.h"

namespace muster::settings {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using namespace std::chrono_literals;

TEST(SettingsFile, GivesTextsWithTheirLines) {
  const auto file = ParseSettingsFile(
      "# of this project\n"
      "grace = \"30s\"\n"
      "max-restarts = 5\n"
      "wait = 2.5\n"
      "[env]\n"
      "OMP_NUM_THREADS = 4\n"
      "MODE = \"a b\"\n",
      "muster.toml");
  ASSERT_TRUE(file) << file.error().ToString();
  EXPECT_EQ(file->texts.at("grace"),
            (Sourced<std::string>{"30s", "muster.toml:2"}));
  EXPECT_EQ(file->texts.at("max_restarts").value, "5");
  EXPECT_EQ(file->texts.at("wait").value, "2.5");
  EXPECT_THAT(file->environment,
              ElementsAre(Pair("MODE", "a b"), Pair("OMP_NUM_THREADS", "4")));
}

TEST(SettingsFile, KeepsBytesBeyondAscii) {
  const auto file = ParseSettingsFile(
      "\xEF\xBB\xBF# d\u00e9j\u00e0 xx\nruns-dir = \"r\u00e9\\u00e8\"\n"
      "[env]\nA = 'xxc3 \u65e5'\n",
      "muster.toml");
  ASSERT_TRUE(file) << file.error().ToString();
  EXPECT_EQ(file->texts.at("runs_dir").value, "r\u00e9\u00e8");
  EXPECT_THAT(file->environment, ElementsAre(Pair("A", "xxc3 \u65e5")));
  const auto wrong = ParseSettingsFile("# it's\n\u00e9 = 1", "muster.toml");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message(), HasSubstr("muster.toml:2: "));
  EXPECT_FALSE(ParseSettingsFile("grace = \u00e9", "muster.toml"));
}

TEST(SettingsFile, StandsBelowTheEnvironmentAndAboveDefaults) {
  const auto file = ParseSettingsFile("grace = \"30s\"", "muster.toml");
  sys::FakeEnv env;
  EXPECT_EQ(ReadSettings({}, env, *file)->grace,
            (Sourced<Duration>{30s, "muster.toml:1"}));
  env.variables = {{"MUSTER_GRACE", "2s"}};
  EXPECT_EQ(ReadSettings({}, env, *file)->grace.value, 2s);
  EXPECT_EQ(ReadSettings({{"grace", "1s"}}, env, *file)->grace.value, 1s);
}

TEST(SettingsFile, SaysWhichLineHasAWrongValue) {
  const auto file = ParseSettingsFile("\n\ngrace = \"soon\"", "muster.toml");
  const auto settings = ReadSettings({}, sys::FakeEnv(), *file);
  ASSERT_FALSE(settings);
  EXPECT_THAT(settings.error().message(),
              HasSubstr("muster.toml:3 is `soon`, expected a duration"));
}

struct BadFile {
  const char* text;
  const char* says;
};
class BadSettingsFile : public testing::TestWithParam<BadFile> {};

TEST_P(BadSettingsFile, IsAnErrorWithItsLine) {
  const auto file = ParseSettingsFile(GetParam().text, "muster.toml");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().cause(), Cause::kUsageInvalid);
  EXPECT_THAT(file.error().message(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadSettingsFile,
    testing::Values(
        BadFile{"\ngrase = \"1s\"",
                "muster.toml:2: unknown key `grase`, did you mean `grace`?"},
        BadFile{"max_restarts = 1", "did you mean `max-restarts`?"},
        BadFile{"zzz = 1", "unknown key `zzz`: `muster config` lists all"},
        BadFile{"config = \"x\"", "unknown key `config`"},
        BadFile{"[enw]\nA = 1", "did you mean `env`?"},
        BadFile{"env = 3", "`env` is no table"},
        BadFile{"[env]\nA = [1]", "muster.toml:2: the value of `A`"},
        BadFile{"[env]\n\"A=B\" = 1", "is no name of a variable"},
        BadFile{"grace = true", "the value of `grace` is no text"},
        BadFile{"grace = \"1s\"\ngrace = \"2s\"", "muster.toml:2: "},
        BadFile{"grace = ", "muster.toml:1: "},
        BadFile{"env = [1, }]", "muster.toml:1: "},
        BadFile{"gr\x1b[31m = 1", "muster.toml:1: "}));

class SettingsFilesTest : public testing::Test {
 protected:
  SettingsFilesTest() {
    std::string pattern = testing::TempDir() + "settingsXXXXXX";
    folder = mkdtemp(pattern.data());
    std::filesystem::create_directories(folder + "/home/.config/muster");
    env.directory = folder;
    env.variables = {{"HOME", folder + "/home"}};
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  void Put(const std::string& name, const std::string& text,
           mode_t mode = 0644) {
    std::ofstream(folder + "/" + name) << text;
    EXPECT_EQ(chmod((folder + "/" + name).c_str(), mode), 0);
  }
  Result<SettingsFile> Read(const std::string& config = "auto") {
    return ReadSettingsFiles(config, host);
  }

  std::string folder;
  sys::FakeEnv env;
  sys::FakeClock clock;
  sys::FakeFs fs;
  const sys::Host host{.env = env, .clock = clock, .fs = fs};
};

TEST_F(SettingsFilesTest, OfTheFolderWinOverThoseOfTheUser) {
  EXPECT_TRUE(Read()->paths.empty());
  Put("home/.config/muster/muster.toml", "grace = \"1s\"\nwait = \"9s\"\n");
  Put("muster.toml", "grace = \"2s\"\n[env]\nA = 1\n");
  const auto files = Read();
  ASSERT_TRUE(files) << files.error().ToString();
  EXPECT_EQ(files->texts.at("grace"),
            (Sourced<std::string>{"2s", "muster.toml:1"}));
  EXPECT_THAT(files->texts.at("wait").source,
              HasSubstr("/home/.config/muster/muster.toml:2"));
  EXPECT_EQ(files->paths.size(), 2U);
  const auto none = ReadSettings({{"config", "none"}}, env);
  ASSERT_TRUE(none);
  EXPECT_TRUE(Read(none->config.value)->paths.empty());
}

TEST_F(SettingsFilesTest, ThatEveryUserCanChangeAreRefused) {
  Put("muster.toml", "grace = \"2s\"\n", 0666);
  const auto files = Read();
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().cause(), Cause::kFilePermission);
  EXPECT_THAT(files.error().message(), HasSubstr("every user can change it"));
}

TEST_F(SettingsFilesTest, OfAnotherUserAreRefused) {
  Put("muster.toml", "grace = \"2s\"\n");
  constexpr uid_t kNobody = 65534;
  if (chown((folder + "/muster.toml").c_str(), kNobody, kNobody) != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  const auto files = Read();
  ASSERT_FALSE(files);
  EXPECT_THAT(files.error().message(), HasSubstr("belongs to user 65534"));
}

TEST_F(SettingsFilesTest, ThatAreNamedAreReadWhoeverOwnsThem) {
  fs.files["/x/own.toml"] = "grace = \"3s\"\n";
  EXPECT_EQ(Read("/x/own.toml")->texts.at("grace").source, "/x/own.toml:1");
  EXPECT_EQ(Read("/x/none.toml").error().cause(), Cause::kFileMissing);
}

}  // namespace
}  // namespace muster::settings
