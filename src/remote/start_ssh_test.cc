// SPDX-License-Identifier: Apache-2.0
// All hosts of a run, over a process that stands for ssh and for what each
// host does.
#include "remote/start_ssh.h"

#include <gmock/gmock.h>

#include "remote/testing.h"
#include "sys/fake/fake_clock.h"
#include "sys/fake/fake_fs.h"
#include "sys/file/fs.h"

namespace muster::remote {
namespace {

using ::testing::HasSubstr;

class StartSshTest : public ::testing::Test {
 protected:
  void SetUp() override { Set({}); }
  void Set(const std::map<std::string, std::string>& given) {
    fs.files["/proc/self/exe"] = "the program";
    flags.settings = *settings::ReadSettings(given, ssh.env);
    flags.cluster.hosts = "a,b";
    flags.agent_arguments = {"--", "true"};
  }
  // What host `a` and host `b` do once their agent is ready and has its line.
  void Agents(const std::string& a, const std::string& b) const {
    ssh.Does(
        "while test \"$1\" != --; do shift; done; host=$2\n" + before + "\n" +
        "echo muster-ssh have\n"
        "for word in bytes directory copy archive keep; do read -r x; done\n"
        "echo muster-ssh ready; read -r line || exit 255\n"
        "echo \"$line\" >\"$HOME/$host\"\n"
        "if test $host = a; then " +
        a + "; else " + b + "; fi");
  }
  Result<int> Start() {
    return StartOverSsh(flags, {ssh.env, clock, fs}, std::move(ssh.spawner));
  }
  // The line that the agent of the host has got.
  std::string HandedTo(const std::string& host) const {
    return sys::RealFs().Read(ssh.folder / host).value_or("");
  }

  ScriptedSsh ssh;
  std::string before;  // that the hosts do first
  sys::FakeClock clock;
  sys::FakeFs fs;
  settings::RunFlags flags;
};

TEST_F(StartSshTest, EachHostGetsItsRankAndTheRunEndsAsRankZero) {
  Agents("exit 3", "exit 0");
  const auto code = Start();
  ASSERT_TRUE(code) << code.error().ToString();
  EXPECT_EQ(*code, 3);
  EXPECT_THAT(HandedTo("a"), HasSubstr(R"("--node-rank","0","--hosts","a,b")"));
  EXPECT_THAT(HandedTo("b"), HasSubstr(R"("--node-rank","1","--hosts","a,b")"));
}

TEST_F(StartSshTest, NoAgentBeginsWhereOneHostHasNone) {
  before = "if test $host = b; then echo 'Permission denied' >&2; exit 255; fi";
  Agents("exit 0", "exit 0");
  EXPECT_EQ(*Start(), 125);
  EXPECT_EQ(HandedTo("a"), "");
}

TEST_F(StartSshTest, TheLossOfTheCoordinatorsHostIsAnEndFromOutside) {
  Agents("echo 'client_loop: send disconnect: Broken pipe' >&2; exit 255",
         "exit 0");
  EXPECT_EQ(*Start(), 75);
}

TEST_F(StartSshTest, OneDocumentIsThatOfRankZero) {
  Set({{"output", "json"}});
  Agents("echo '{\"of\": 0}'; exit 0", "echo '{\"of\": 1}'; exit 0");
  ::testing::internal::CaptureStdout();
  const auto code = Start();
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "{\"of\": 0}\n");
  EXPECT_EQ(*code, 0);
}

TEST_F(StartSshTest, WithoutHostsOrATpuThereIsNobodyToStart) {
  flags.cluster.hosts = std::nullopt;
  const auto code = Start();
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().cause(), Cause::kUsageInvalid);
}

TEST_F(StartSshTest, WithoutSshHereNothingStarts) {
  ssh.env.variables["PATH"] = ssh.folder.path();
  const auto code = Start();
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().cause(), Cause::kProgramNotFound);
}

}  // namespace
}  // namespace muster::remote
