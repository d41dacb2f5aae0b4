// SPDX-License-Identifier: Apache-2.0
#include "remote/ssh.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace muster::remote {
namespace {

using Kind = SshAnswer::Kind;

SshEnd Said(std::string words) {
  SshEnd end;
  end.login.host = "b";
  end.said = std::move(words);
  return end;
}

SshEnd Answered(const std::string& line) {
  SshEnd end;
  end.login.host = "b";
  end.answer = ReadSshAnswer(std::string(kSshWord) + line);
  return end;
}

TEST(Ssh, RespectsHostKeysAndAsksNobody) {
  const auto command =
      SshCommand({.host = "b"}, std::chrono::seconds(10), "true");
  for (const std::string& word : command) {
    EXPECT_EQ(word.find("StrictHostKeyChecking"), std::string::npos);
    EXPECT_EQ(word.find("UserKnownHostsFile"), std::string::npos);
  }
  EXPECT_NE(std::find(command.begin(), command.end(), "BatchMode=yes"),
            command.end());
  EXPECT_NE(std::find(command.begin(), command.end(), "ConnectTimeout=10"),
            command.end());
  EXPECT_EQ(command[command.size() - 2], "b");
}

SshLogin OfTpu() {
  return {.host = "10.0.0.3",
          .name = "worker 1 of `t` (10.0.0.3)",
          .user = "ann",
          .key_file = "/h h/key",
          .known_hosts = "/h h/known",
          .host_key_name = "tpu.17-1",
          .if_refused = "ask gcloud"};
}

TEST(Ssh, OfATpuTakesItsKeysAndNeverAChangedOne) {
  const auto command = SshCommand(OfTpu(), std::chrono::seconds(10), "true");
  for (const char* word :
       {"User=ann", "/h h/key", "IdentitiesOnly=yes",
        "UserKnownHostsFile=\"/h h/known\"", "HostKeyAlias=tpu.17-1",
        "StrictHostKeyChecking=accept-new"}) {
    EXPECT_NE(std::find(command.begin(), command.end(), word), command.end())
        << word;
  }
}

TEST(Ssh, OfATpuSaysWhatHealsThere) {
  SshEnd end;
  end.login = OfTpu();
  end.said = "ann@10.0.0.3: Permission denied (publickey).\n";
  EXPECT_EQ(WhyNotStarted(end).fixes[0].text, "ask gcloud");
  end.said = "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\n";
  const Finding finding = WhyNotStarted(end);
  EXPECT_EQ(finding.fixes[0].command, "ssh-keygen -f '/h h/known' -R tpu.17-1");
  EXPECT_NE(finding.what.find("worker 1 of `t`"), std::string::npos);
}

TEST(Ssh, HandsWordsOnAsTheyAre) {
  EXPECT_EQ(ShellLine("a", {"b c", "d'e"}),
            "exec /bin/sh -c 'a' muster-ssh 'b c' 'd'\\''e'");
}

TEST(Ssh, SaysWhereTheOtherSideIsToRun) {
  EXPECT_EQ(ToSshPlace({.directory = "/w"}), "/w\n\n0\nremove\n");
  EXPECT_EQ(ToSshPlace({.copy = "c", .archive_bytes = 3, .keep = true}),
            "\nc\n3\nkeep\n");
}

TEST(Ssh, KnowsAConnectionThatWasLost) {
  EXPECT_TRUE(SaysLost("Connection to a closed by remote host.\n"));
  EXPECT_TRUE(SaysLost("Timeout, server a not responding.\n"));
  EXPECT_FALSE(SaysLost("bash: x: command not found\n"));
}

TEST(Ssh, SaysAScriptThatEveryLoginShellHandsOn) {
  const std::string script = SshScript("d1g");
  EXPECT_EQ(script.find_first_of("'!\\\n"), std::string::npos) << script;
  EXPECT_NE(script.find("/muster/d1g"), std::string::npos);
  EXPECT_EQ(script.find("/muster/%"), std::string::npos);
  for (const std::string& other : {WatchedScript(), NotebookScript()}) {
    EXPECT_EQ(other.find_first_of("'\\\n"), std::string::npos) << other;
  }
}

TEST(Ssh, ReadsAnswersAndNoGreetings) {
  EXPECT_FALSE(ReadSshAnswer("Welcome to b"));
  EXPECT_EQ(ReadSshAnswer("muster-ssh have")->kind, Kind::kHave);
  EXPECT_EQ(ReadSshAnswer("muster-ssh ready")->kind, Kind::kReady);
  const auto need = ReadSshAnswer("muster-ssh need Linux x86_64");
  EXPECT_EQ(need->kind, Kind::kNeed);
  EXPECT_EQ(need->text, "Linux x86_64");
  const auto failed = ReadSshAnswer("muster-ssh failed write a b");
  EXPECT_EQ(failed->kind, Kind::kFailed);
  EXPECT_EQ(failed->text, "write");
  EXPECT_EQ(failed->why, "a b");
}

struct Case {
  const char* said;
  Cause cause;
};

TEST(Ssh, NamesACauseForWhatTheClientSays) {
  const Case cases[] = {
      {"@@@@\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n"
       "Host key verification failed.\n",
       Cause::kNetWrongEndpoint},
      {"No ED25519 host key is known for b and you have requested strict "
       "checking.\nHost key verification failed.\n",
       Cause::kSshHostKeyUnknown},
      {"ann@b: Permission denied (publickey).\n", Cause::kSshAuthRefused},
      {"ssh: Could not resolve hostname b: Name or service not known\n",
       Cause::kNetNameResolution},
      {"ssh: connect to host b port 22: Connection refused\n",
       Cause::kNetWrongEndpoint},
      {"ssh: connect to host b port 22: Connection timed out\n",
       Cause::kNetTimeoutFiltered},
      {"ssh: connect to host b port 22: No route to host\n",
       Cause::kNetTimeoutFiltered},
      {"Connection timed out during banner exchange\n",
       Cause::kNetWrongEndpoint},
      {"something new\n", Cause::kPeerDied}};
  for (const Case& one : cases) {
    const Finding finding = WhyNotStarted(Said(one.said));
    EXPECT_EQ(finding.cause, one.cause) << one.said << finding.what;
    EXPECT_EQ(finding.subjects, std::vector<std::string>{"b"});
    EXPECT_FALSE(finding.evidence.empty());
  }
}

TEST(Ssh, NamesACauseForTheStepThatFailed) {
  const Case cases[] = {
      {"failed write head: write error: No space left on device",
       Cause::kDiskFull},
      {"failed folder mkdir: cannot create directory: Permission denied",
       Cause::kFilePermission},
      {"failed exec sh: /x/muster: Permission denied", Cause::kProgramNotFound},
      {"failed directory /home/ann/train", Cause::kFileMissing},
      {"need Linux aarch64", Cause::kVerAbi}};
  for (const Case& one : cases) {
    const Finding finding = WhyNotStarted(Answered(one.said));
    EXPECT_EQ(finding.cause, one.cause) << one.said << finding.what;
  }
}

TEST(Ssh, SaysHowLongAHostThatIsSilentWasWaitedFor) {
  SshEnd end = Said("");
  end.waited = std::chrono::seconds(4);
  const Finding finding = WhyNotStarted(end);
  EXPECT_EQ(finding.cause, Cause::kDeadlineExceeded);
  EXPECT_NE(finding.what.find("4.0 s"), std::string::npos) << finding.what;
}

}  // namespace
}  // namespace muster::remote
