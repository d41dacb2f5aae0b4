// SPDX-License-Identifier: Apache-2.0
#include "diagnose/match/log_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/match/prefix.h"

namespace muster::diagnose {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kTraceback =
    "Traceback (most recent call last):\n"
    "  File \"a.py\", line 3, in <module>\n"
    "    loss = 0.5 * model(x)\n"
    "RuntimeError: no\n";

int RankIn(std::string_view line) {
  return ReadPrefix(line).rank;
}

// "progress.went_on 0 step 3", the kinds, lines from the end and texts.
std::vector<std::string> EndOf(std::string_view tail) {
  std::vector<std::string> ends;
  for (const LogEnd& end : LastProgress(tail, RankIn)) {
    ends.push_back(std::string(end.fact.substr(9)) + " " +
                   std::to_string(end.newlines) + " " + end.text);
  }
  return ends;
}

TEST(LogEnd, IsTheLastLineOfProgress) {
  EXPECT_THAT(EndOf("step 1 loss 2.0\nstep 2 loss 1.9\nbye\n"),
              ElementsAre("went_on 2 step 2 loss 1.9"));
}

TEST(LogEnd, IsProgressThatThenFailedWhenTroubleFollows) {
  EXPECT_THAT(EndOf("step 1 loss 2\nstep 2 loss 1.9\nRuntimeError: no\n"),
              ElementsAre("then_failed 2 step 2 loss 1.9"));
  EXPECT_THAT(EndOf("step 2 loss 1.9\nKilled\n"),
              ElementsAre("then_failed 2 step 2 loss 1.9"));
}

TEST(LogEnd, IsNoSourceCodeOfATraceback) {
  EXPECT_THAT(EndOf(kTraceback), IsEmpty());
}

TEST(LogEnd, PassesOverAnExceptionThatPythonIgnores) {
  EXPECT_THAT(EndOf("step 2 loss 1.9\n"
                    "[rank0]:Exception ignored in: <function W.__del__>\n"
                    "[rank0]:Traceback (most recent call last):\n"
                    "[rank0]:  File \"a.py\", line 3, in __del__\n"
                    "[rank0]:AttributeError: 'NoneType' has no 'x'\n"),
              ElementsAre("went_on 5 step 2 loss 1.9"));
  EXPECT_THAT(
      EndOf("step 2 loss 1.9\nException ignored in: <function W.__del__>\n"
            "Traceback (most recent call last):\nAttributeError: a\n"
            "Traceback (most recent call last):\nValueError: b\n"),
      ElementsAre("then_failed 6 step 2 loss 1.9"));
}

TEST(LogEnd, IsOfEachRank) {
  EXPECT_THAT(EndOf("[rank1]: step 2 loss 1.9\n[rank0]: step 2 loss 1.9\n"
                    "[rank1]: RuntimeError: no\n[rank0]: step 3 loss 1.8\n"),
              ElementsAre("went_on 1 [rank0]: step 3 loss 1.8",
                          "then_failed 4 [rank1]: step 2 loss 1.9"));
}

TEST(LogEnd, TellsApartWhatIsSaidHoweverItEnded) {
  EXPECT_THAT(EndOf("Training finished\n"),
              ElementsAre("over 1 Training finished"));
  EXPECT_THAT(EndOf("wandb: Run summary:\nwandb:   epoch 5\n"), IsEmpty());
  EXPECT_THAT(EndOf("COMET INFO:     loss : 0.31\n"), IsEmpty());
  EXPECT_THAT(EndOf("step 3\nwandb:   epoch 5\n"),
              ElementsAre("went_on 2 step 3"));
}

TEST(LogEnd, IsNoBarThatIsPaintedOnceMore) {
  const std::string died(kTraceback);
  const std::string bar10 = " 1%|#  | 10/1000 [00:10<14:00,  1.18it/s]";
  const std::string bar12 = " 1%|#  | 12/1000 [00:12<14:00,  1.18it/s]";
  EXPECT_THAT(EndOf(bar10 + "\n"), ElementsAre("went_on 1 " + bar10));
  EXPECT_THAT(EndOf(died + bar12 + "\n"), IsEmpty());
  EXPECT_THAT(EndOf(bar10 + "\n" + died + "bye\n" + bar12 + "\n"),
              ElementsAre("then_failed 7 " + bar10));
  const std::string bar0 = "Epoch 0:  0%| | 0/9 [00:00<?, ?it/s]";
  EXPECT_THAT(EndOf(died + "bye\n" + bar0 + "\n"), IsEmpty());
  EXPECT_THAT(EndOf(died + bar10 + "\r" + bar12 + "\n"),
              ElementsAre("went_on 1 " + bar12));
  EXPECT_THAT(EndOf(died + "9/9 [00:10<00:00,  1.18it/s]\n"),
              ElementsAre("went_on 1 9/9 [00:10<00:00,  1.18it/s]"));
}

TEST(LogEnd, PassesOverHarmlessLines) {
  EXPECT_THAT(
      EndOf("epoch 3 done\nWARNING: process group has NOT been destroyed "
            "before we destruct ProcessGroupNCCL. Error\n"),
      ElementsAre("went_on 2 epoch 3 done"));
}

TEST(LogEnd, OfAnythingElseSaysNothing) {
  EXPECT_THAT(EndOf(""), IsEmpty());
  EXPECT_THAT(EndOf("\n\r\n"), IsEmpty());
  EXPECT_THAT(EndOf("loading\n"), IsEmpty());
}

TEST(LogEnd, ReadsBarsThatEndInACarriageReturn) {
  EXPECT_THAT(EndOf("a\n 1% 2.3it/s\r 2% 2.4it/s\r"),
              ElementsAre("went_on 0  2% 2.4it/s"));
}

}  // namespace
}  // namespace muster::diagnose
