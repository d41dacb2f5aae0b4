// SPDX-License-Identifier: Apache-2.0
#include "cli/page/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Words = std::vector<std::string>;

const Words kRunNames{"latest", "20261121-143519-7k2m"};

Words Of(const Words& words) {
  Words found;
  for (const Candidate& one : Complete(words, kRunNames).words) {
    found.push_back(one.word);
  }
  return found;
}

TEST(Complete, KnowsSubCommandsAtEveryLevel) {
  EXPECT_THAT(Of({""}), AllOf(Contains("run"), Contains("tpu"),
                              Contains("help"), Not(Contains("share"))));
  EXPECT_THAT(Of({"ru"}), ElementsAre("run", "runs"));
  EXPECT_THAT(Of({"tpu", "cr"}), ElementsAre("create"));
  EXPECT_THAT(Of({"tpu", "queued", ""}),
              ElementsAre("list", "describe", "delete"));
  EXPECT_THAT(Of({"help", "tpu", "del"}), ElementsAre("delete"));
}

TEST(Complete, KnowsTheFlagsOfASubCommandThatAreNotGivenYet) {
  EXPECT_THAT(Of({"tpu", "create", "mine", "--any"}),
              ElementsAre("--any-zone"));
  EXPECT_THAT(Of({"run", "--max-r"}),
              ElementsAre("--max-restarts", "--max-recreates"));
  EXPECT_THAT(Of({"run", "--dry-run", "--dry"}), IsEmpty());
  EXPECT_THAT(Of({"run", "--env", "A=1", "--en"}), ElementsAre("--env"));
  EXPECT_THAT(Of({"run", "--internal"}), IsEmpty());
}

TEST(Complete, KnowsValues) {
  EXPECT_THAT(Of({"run", "--profile", "to"}),
              ElementsAre("torch", "torch_xla"));
  EXPECT_THAT(Of({"run", "--log-level", "d"}), ElementsAre("debug"));
  EXPECT_THAT(Of({"run", "--log-level=d"}), ElementsAre("--log-level=debug"));
  EXPECT_THAT(Of({"run", "--log-level", "=", "d"}), ElementsAre("debug"));
  EXPECT_THAT(Of({"run", "--log-level", "="}),
              ElementsAre("trace", "debug", "info", "warn", "error"));
  EXPECT_THAT(Of({"completion", ""}), ElementsAre("bash", "zsh", "fish"));
}

TEST(Complete, KnowsCausesChecksAndRuns) {
  EXPECT_THAT(Of({"explain", "oom-"}), ElementsAre("oom-device", "oom-host"));
  EXPECT_THAT(Of({"check", "host.mem"}), ElementsAre("host.memory"));
  EXPECT_THAT(Of({"check", "networ"}), Contains("network"));
  EXPECT_THAT(Of({"logs", ""}), ElementsAre("latest", "20261121-143519-7k2m"));
  EXPECT_THAT(Of({"logs", "2026"}), ElementsAre("20261121-143519-7k2m"));
}

TEST(Complete, LeavesPathsToTheShell) {
  EXPECT_EQ(Complete({"run", "--hostfile", ""}, {}).paths, kFiles | kFolders);
  EXPECT_EQ(Complete({"run", "--runs-dir", ""}, {}).paths, kFolders);
  EXPECT_EQ(Complete({"run", "-n", "2", "--", "tr"}, {}).paths, kFiles);
  EXPECT_EQ(CandidatesText(Complete({"run", "--copy", ""}, {})), ":folders\n");
  EXPECT_THAT(CandidatesText(Complete({"explain", "peer-d"}, {})),
              AllOf(HasSubstr("peer-died\t"), HasSubstr("\n:files\n")));
}

TEST(CompletionScript, IsThereForThreeShells) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_THAT(CompletionScript(shell), HasSubstr("completion --words -- "))
        << shell;
  }
  EXPECT_EQ(CompletionScript("tcsh"), "");
}

}  // namespace
}  // namespace muster::cli
