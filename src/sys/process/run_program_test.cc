// SPDX-License-Identifier: Apache-2.0
#include "sys/process/run_program.h"

#include <gmock/gmock.h>

namespace muster::sys {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Result<ProgramAnswer> RunInShell(const std::string& text,
                                 Duration time = seconds(60)) {
  return RunProgram({.argv = {"/bin/sh", "-c", text},
                     .variables = {{"SAID", "hello"}},
                     .most_bytes = 1000},
                    Deadline::After(time));
}

TEST(RunProgram, GivesOutputAndEnding) {
  const auto answer = RunInShell("echo $SAID; exit 3");
  ASSERT_TRUE(answer) << answer.error().ToString();
  EXPECT_EQ(answer->output, "hello\n");
  EXPECT_EQ(answer->Ending(), "status 3");
  EXPECT_EQ(RunInShell("kill -9 $$")->Ending(), "signal 9");
}

TEST(RunProgram, EndsWhatDoesNotEnd) {
  EXPECT_EQ(
      RunInShell("sleep 600 & sleep 600", milliseconds(50)).error().cause(),
      Cause::kDeadlineExceeded);
}

TEST(RunProgram, EndsWhatSaysTooMuch) {
  EXPECT_EQ(
      RunInShell("while :; do echo xxxxxxxxxxxxxxxxxxxx; done").error().cause(),
      Cause::kFileCorrupt);
}

TEST(RunProgram, CutsWhatSaysTooMuchWhereThatIsWanted) {
  const auto answer = RunProgram({.argv = {"yes"},
                                  .variables = {},
                                  .most_bytes = 64,
                                  .too_much = Program::TooMuch::kCut},
                                 Deadline::After(seconds(60)));
  ASSERT_TRUE(answer) << answer.error().ToString();
  EXPECT_TRUE(answer->Succeeded());
  EXPECT_EQ(answer->output.size(), 64U);
}

TEST(RunProgram, PassesNoWordThroughAShell) {
  const auto answer = RunProgram({.argv = {"printf", "%s", "$(id)"}},
                                 Deadline::After(seconds(60)));
  ASSERT_TRUE(answer) << answer.error().ToString();
  EXPECT_EQ(answer->output, "$(id)");
}

TEST(RunProgram, NamesWhatIsNotThere) {
  const auto answer =
      RunProgram({.argv = {"/no/such"}}, Deadline::After(seconds(1)));
  EXPECT_EQ(answer.error().cause(), Cause::kProgramNotFound);
  EXPECT_EQ(RunProgram({}, Deadline::After(seconds(1))).error().cause(),
            Cause::kProgramNotFound);
}

}  // namespace
}  // namespace muster::sys
