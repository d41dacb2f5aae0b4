// SPDX-License-Identifier: Apache-2.0
#include "evidence/log_end.h"

#include <gtest/gtest.h>

namespace muster::evidence {
namespace {

TEST(LogEnd, IsTheLastLineOfProgress) {
  const auto end = LastProgress("step 1 loss 2.0\nstep 2 loss 1.9\nbye\n");
  ASSERT_TRUE(end);
  EXPECT_EQ(end->text, "step 2 loss 1.9");
  EXPECT_EQ(end->lines_after, 1);
}

TEST(LogEnd, IsNoProgressWhenTroubleFollows) {
  EXPECT_FALSE(LastProgress("step 2 loss 1.9\nRuntimeError: no\n"));
  EXPECT_FALSE(LastProgress("step 2 loss 1.9\nKilled\n"));
}

TEST(LogEnd, PassesOverAnExceptionThatPythonIgnores) {
  EXPECT_TRUE(LastProgress(
      "step 2 loss 1.9\n"
      "[rank0]:Exception ignored in: <function W.__del__>\n"
      "[rank0]:Traceback (most recent call last):\n"
      "[rank0]:  File \"a.py\", line 3, in __del__\n"
      "[rank0]:AttributeError: 'NoneType' has no attribute 'x'\n"));
  EXPECT_FALSE(LastProgress(
      "step 2 loss 1.9\nException ignored in: <function W.__del__>\n"
      "Traceback (most recent call last):\nAttributeError: a\n"
      "Traceback (most recent call last):\nValueError: b\n"));
}

TEST(LogEnd, IsNoRemarkOfWhoeverHandsTheLogOver) {
  EXPECT_FALSE(LastProgress("loading\n(it starts again from epoch 0)\n"));
  const auto end = LastProgress("step 2 loss 1.9\n(then epoch 0 again)\n");
  ASSERT_TRUE(end);
  EXPECT_EQ(end->text, "step 2 loss 1.9");
}

TEST(LogEnd, PassesOverHarmlessLines) {
  EXPECT_TRUE(LastProgress(
      "epoch 3 done\nWARNING: process group has NOT been destroyed before we "
      "destruct ProcessGroupNCCL. Error\n"));
}

TEST(LogEnd, IsNoProgressThatIsOnlyTold) {
  EXPECT_FALSE(LastProgress("(it ends without a word in epoch 3)\n"));
}

TEST(LogEnd, OfAnythingElseSaysNothing) {
  EXPECT_FALSE(LastProgress(""));
  EXPECT_FALSE(LastProgress("\n\r\n"));
  EXPECT_FALSE(LastProgress("loading\n"));
}

TEST(LogEnd, ReadsBarsThatEndInACarriageReturn) {
  const auto end = LastProgress(" 1% 2.3it/s\r 2% 2.4it/s\r");
  ASSERT_TRUE(end);
  EXPECT_EQ(end->lines_after, 0);
}

}  // namespace
}  // namespace muster::evidence
