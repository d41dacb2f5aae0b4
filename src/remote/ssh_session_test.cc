// SPDX-License-Identifier: Apache-2.0
// Sessions over a real process that stands for ssh.
#include "remote/ssh_session.h"

#include <gmock/gmock.h>

#include "remote/testing.h"

namespace muster::remote {
namespace {

using std::chrono::seconds;
using sys::Console;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = SshAnswer::Kind;

class SshSessionTest : public ::testing::Test {
 protected:
  void Start(const std::string& script) {
    ssh.Does(script);
    ASSERT_TRUE(session.Start("true"));
  }
  void UntilEnded() {
    ssh.Until([this] { return session.ended(); });
  }
  void UntilReady() {
    ssh.Until([this] { return session.ready(); });
  }
  // Why it did not get ready.
  Cause WhyNot() const {
    EXPECT_TRUE(session.failed());
    return session.failed() ? session.failed()->cause : Cause::kInternalError;
  }

  ScriptedSsh ssh;
  std::vector<Kind> answers;
  std::vector<std::string> out, err;  // lines that were passed on
  const SshSession::Place place{.loop = *ssh.loop,
                                .spawner = *ssh.spawner,
                                .env = ssh.env,
                                .limit = seconds(30),
                                .console = ssh.console};
  SshSession session{
      place,
      {.host = "b"},
      {.answered =
           [this](const SshAnswer& one) {
             answers.push_back(one.kind);
             ssh.loop->Quit();
           },
       .line =
           [this](Console::Stream stream, std::string_view line) {
             (stream == Console::Stream::kOut ? out : err).emplace_back(line);
             ssh.loop->Quit();
           },
       .changed = [this] { ssh.loop->Quit(); }}};
};

TEST_F(SshSessionTest, BeforeItIsReadyJudgesWhatSshSays) {
  Start("echo Welcome; echo 'b: Permission denied (publickey).' >&2; exit 255");
  UntilEnded();
  EXPECT_EQ(WhyNot(), Cause::kSshAuthRefused);
  EXPECT_THAT(session.failed()->subjects, ElementsAre("b"));
  EXPECT_THAT(out, IsEmpty());
  EXPECT_THAT(err, IsEmpty());
}

TEST_F(SshSessionTest, AHostKeyThatNobodyVouchesForIsRefused) {
  Start("echo 'Host key verification failed.' >&2; exit 255");
  UntilEnded();
  EXPECT_EQ(WhyNot(), Cause::kSshHostKeyUnknown);
}

TEST_F(SshSessionTest, AHostKeyThatHasChangedIsOfAnotherMachine) {
  Start(
      "echo '@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @' >&2; "
      "echo 'Host key verification failed.' >&2; exit 255");
  UntilEnded();
  EXPECT_EQ(WhyNot(), Cause::kNetWrongEndpoint);
}

TEST_F(SshSessionTest, AnEndBeforeItIsReadyNeedsNoWords) {
  Start("echo muster-ssh have; exit 7");
  UntilEnded();
  EXPECT_EQ(WhyNot(), Cause::kPeerDied);
  EXPECT_THAT(answers, ElementsAre(Kind::kHave));
  EXPECT_EQ(session.code(), 7);
  EXPECT_FALSE(session.lost());
}

TEST_F(SshSessionTest, OnceReadyPassesOnWhatComes) {
  Start(
      "echo Welcome; echo muster-ssh have; echo muster-ssh ready; "
      "echo o; echo muster-ssh have; echo e >&2; exit 3");
  UntilEnded();
  EXPECT_FALSE(session.failed());
  EXPECT_THAT(answers, ElementsAre(Kind::kHave, Kind::kReady));
  EXPECT_THAT(out, ElementsAre("o", "muster-ssh have"));
  EXPECT_THAT(err, Contains("e"));
  EXPECT_EQ(session.code(), 3);
}

TEST_F(SshSessionTest, TellsOfAHostKeyThatIsNew) {
  Start(
      "echo 'Warning: Permanently added b to the list' >&2; echo motd >&2; "
      "echo muster-ssh have; read -r go; echo muster-ssh ready");
  ssh.Until([this] { return !answers.empty(); });
  session.Send(Share("go\n"));
  UntilEnded();
  EXPECT_THAT(err, ElementsAre(HasSubstr("Permanently added")));
}

TEST_F(SshSessionTest, IsGivenUpWhereNothingIsSaid) {
  Start("exec sleep 600");
  session.GiveUp(seconds(4));
  EXPECT_EQ(WhyNot(), Cause::kDeadlineExceeded);
  UntilEnded();
  EXPECT_EQ(session.code(), SshSession::kLost);
}

TEST_F(SshSessionTest, IsNotGivenUpOnceItIsReady) {
  Start("echo muster-ssh ready; exec cat");
  UntilReady();
  session.GiveUp(seconds(4));
  EXPECT_FALSE(session.failed());
  session.Close();
  UntilEnded();
  EXPECT_EQ(session.code(), 0);
}

TEST_F(SshSessionTest, SendsInOrderMoreThanAPipeHolds) {
  Start(
      "echo muster-ssh ready; read -r first; echo $first; head -c 1000000 |"
      " wc -c; cat");
  session.Send(Share("a\n"));
  session.Send(Share(std::string(1'000'000, 'x')));
  session.Send(Share("z\n"));
  ssh.Until([this] { return out.size() == 3; });
  EXPECT_THAT(out, ElementsAre("a", "1000000", "z"));
}

TEST_F(SshSessionTest, AConnectionThatBreaksIsLost) {
  Start(
      "echo muster-ssh ready; "
      "echo 'Connection to b closed by remote host.' >&2; exit 255");
  UntilEnded();
  EXPECT_TRUE(session.lost());
}

TEST_F(SshSessionTest, AnAgentThatEndsWithTheCodeOfSshIsNot) {
  Start("echo muster-ssh ready; exit 255");
  UntilEnded();
  EXPECT_EQ(session.code(), SshSession::kLost);
  EXPECT_FALSE(session.lost());
}

TEST_F(SshSessionTest, ThatWasKilledIsLost) {
  Start("echo muster-ssh ready; exec sleep 600");
  UntilReady();
  session.Kill();
  UntilEnded();
  EXPECT_TRUE(session.lost());
}

TEST_F(SshSessionTest, EndsAlsoWhereAnotherKeepsItsStreamsOpen) {
  Start("echo muster-ssh ready; sleep 600 & exit 4");
  UntilEnded();
  EXPECT_EQ(session.code(), 4);
}

TEST_F(SshSessionTest, WithoutSshDoesNotStart) {
  ssh.env.variables["PATH"] = ssh.folder.path();
  const auto started = session.Start("true");
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().cause(), Cause::kProgramNotFound);
}

TEST_F(SshSessionTest, GivesSshTheHostAndWhatIsForItsShell) {
  ssh.Does("echo muster-ssh ready; for word; do echo \"$word\"; done");
  ASSERT_TRUE(session.Start("a 'b'", {"-L", "1:b:2"}));
  UntilEnded();
  ASSERT_GE(out.size(), 5U);
  EXPECT_THAT(std::vector(out.begin(), out.begin() + 2),
              ElementsAre("-L", "1:b:2"));
  EXPECT_THAT(std::vector(out.end() - 3, out.end()),
              ElementsAre("--", "b", "a 'b'"));
}

}  // namespace
}  // namespace muster::remote
