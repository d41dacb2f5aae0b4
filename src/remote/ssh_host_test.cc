// SPDX-License-Identifier: Apache-2.0
// What runs on the other side runs here, in a home folder of the test.
#include "remote/ssh_host.h"

#include <gmock/gmock.h>

#include "channel/security/sha256.h"
#include "remote/pack_folder.h"
#include "remote/testing.h"
#include "sys/fake/fake_clock.h"
#include "sys/file/fs.h"

namespace muster::remote {
namespace {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

// Stands for muster: says with which arguments, where and with which words it
// was started, and good-bye once they end.
constexpr const char* kProgram =
    "#!/bin/sh\n"
    "test \"$1\" = --version && exit 0\n"
    "echo \"$*\"; pwd; cat; echo bye\n";

class SshHostTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ssh.RunsHere();
    shared.program = Share(kProgram);
    shared.digest = channel::Sha256Hex(kProgram);
    shared.where.directory = ssh.folder.path();
  }
  void Start() { ASSERT_TRUE(host->Start()); }
  void UntilDecided() {
    ssh.Until([this] { return host->session().decided(); });
  }
  void UntilSaid(std::size_t count) {
    ssh.Until([&] { return lines.size() >= count; });
  }
  void UntilEnded() {
    ssh.Until([this] { return host->session().ended(); });
  }
  // Started, ready and with its line.
  void Begin() {
    Start();
    UntilDecided();
    ASSERT_FALSE(host->session().failed()) << host->session().failed()->what;
    host->Begin();
    UntilSaid(3);
  }
  Cause WhyNot() const {
    EXPECT_TRUE(host->session().failed());
    return host->session().failed() ? host->session().failed()->cause
                                    : Cause::kInternalError;
  }
  std::string LineFor(const AgentBootstrap& bootstrap) const {
    const std::string line = ToLine(bootstrap);
    return line.substr(0, line.size() - 1);
  }

  ScriptedSsh ssh;
  std::vector<std::string> lines;
  const AgentBootstrap handed{.args = {"run", "--", "a b"}, .token = "0f"};
  SshHost::Shared shared{.place = {.loop = *ssh.loop,
                                   .spawner = *ssh.spawner,
                                   .env = ssh.env,
                                   .limit = seconds(30),
                                   .console = ssh.console},
                         .digest = {},
                         .program = {},
                         .where = {},
                         .archive = {},
                         .on_change = [this] { ssh.loop->Quit(); }};
  std::unique_ptr<SshHost> host = std::make_unique<SshHost>(
      shared, SshLogin{.host = "b"}, 3, handed,
      [this](int rank, sys::Console::Stream, std::string_view line) {
        EXPECT_EQ(rank, 3);
        lines.emplace_back(line);
        ssh.loop->Quit();
      });
};

TEST_F(SshHostTest, BringsTheProgramThereAndHandsOverWhatItIsToDo) {
  Begin();
  host->Tell("stop SIGINT");
  UntilSaid(4);
  EXPECT_THAT(lines, ElementsAre("run --from-stdin", ssh.folder.path(),
                                 LineFor(handed), "stop SIGINT"));
}

TEST_F(SshHostTest, TheProgramThatIsThereIsTaken) {
  Begin();
  host->session().Close();
  UntilEnded();
  shared.program = Share("no program");
  host = host->Replacement();
  lines.clear();
  Begin();
  EXPECT_THAT(lines, Contains("run --from-stdin"));
}

TEST_F(SshHostTest, WhatIsSaidAfterTheEndIsPassedOnUnlessItWasClosed) {
  Begin();
  host->session().Close();
  UntilEnded();
  EXPECT_THAT(lines, Contains("bye"));
  host = host->Replacement();
  lines.clear();
  Begin();
  host->Close();
  UntilEnded();
  EXPECT_THAT(lines, Not(Contains("bye")));
}

TEST_F(SshHostTest, NothingIsSentToOneThatIsNotReady) {
  Start();
  host->Tell("kill SIGINT");
  UntilDecided();
  host->Begin();
  UntilSaid(3);
  EXPECT_THAT(lines, Not(Contains("kill SIGINT")));
}

TEST_F(SshHostTest, ACopyThatIsNotWholeDoesNotRun) {
  shared.digest = channel::Sha256Hex("another");
  Start();
  UntilDecided();
  EXPECT_EQ(WhyNot(), Cause::kFilePermission);
}

TEST_F(SshHostTest, AProgramThatCannotRunThereIsNamed) {
  shared.program = Share("#!/no/such/shell\n");
  shared.digest = channel::Sha256Hex(*shared.program);
  Start();
  UntilDecided();
  EXPECT_EQ(WhyNot(), Cause::kProgramNotFound);
}

TEST_F(SshHostTest, AnotherKindOfMachineGetsNoProgram) {
  ssh.Does("echo muster-ssh need Plan9 mips; exec cat");
  Start();
  UntilDecided();
  EXPECT_EQ(WhyNot(), Cause::kVerAbi);
  UntilEnded();
}

TEST_F(SshHostTest, AFolderThatIsNotThereIsNamed) {
  shared.where.directory = ssh.folder / "none";
  Start();
  UntilDecided();
  EXPECT_EQ(WhyNot(), Cause::kFileMissing);
}

TEST_F(SshHostTest, AHomeThatCannotBeWrittenIsNamed) {
  std::ofstream(ssh.folder / "home") << "a file";
  ssh.env.variables["HOME"] = ssh.folder / "home";
  Start();
  UntilDecided();
  EXPECT_EQ(WhyNot(), Cause::kFilePermission);
}

TEST_F(SshHostTest, ACopyOfAFolderIsMadeThereAndGoesAtTheEnd) {
  sys::TemporaryFolder source;
  std::ofstream(source / "train.py") << "x = 1\n";
  sys::RealFs fs;
  sys::FakeClock clock;
  auto packed = PackFolder(source.path(), {ssh.env, clock, fs});
  ASSERT_TRUE(packed) << packed.error().ToString();
  shared.where = {.directory = {},
                  .copy = packed->folder,
                  .archive_bytes = packed->bytes.size()};
  shared.archive = Share(packed->bytes);
  Begin();
  const std::string copy = ssh.folder / packed->folder;
  EXPECT_EQ(lines[1], copy);
  EXPECT_EQ(*fs.Read(copy + "/train.py"), "x = 1\n");
  host->session().Close();
  UntilEnded();
  EXPECT_FALSE(fs.Exists(copy));
}

TEST_F(SshHostTest, ACopyThatCannotBeUnpackedIsNamed) {
  shared.where = {.directory = {}, .copy = "copy", .archive_bytes = 3};
  shared.archive = Share("xyz");
  Start();
  UntilDecided();
  EXPECT_EQ(WhyNot(), Cause::kFilePermission);
  EXPECT_FALSE(std::filesystem::exists(ssh.folder / "copy"));
}

}  // namespace
}  // namespace muster::remote
