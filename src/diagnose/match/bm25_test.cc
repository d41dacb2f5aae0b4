// SPDX-License-Identifier: Apache-2.0
#include "diagnose/match/bm25.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::diagnose {
namespace {

TEST(Nearest, IsTheCauseWhoseWordsTheTextHas) {
  const auto near = NearestCauses(
      "the shared memory of the loader's workers in /dev/shm is too small");
  ASSERT_GT(near.size(), 1U);
  EXPECT_EQ(near[0].cause, Cause::kShmTooSmall);
  EXPECT_GE(near[0].score, near[1].score);
}

TEST(Nearest, TakesFormsOfAWordForOne) {
  const auto near = NearestCauses("Preempted PREEMPTION preempts");
  ASSERT_FALSE(near.empty());
  EXPECT_EQ(near[0].cause, Cause::kPreempted);
  EXPECT_THAT(near[0].words, testing::Contains("preempted"));
}

TEST(Nearest, CountsAWordOnce) {
  const auto once = NearestCauses("quota");
  const auto often = NearestCauses("quota quota quota");
  ASSERT_FALSE(once.empty());
  EXPECT_DOUBLE_EQ(once[0].score, often[0].score);
}

TEST(Nearest, OfNumbersStopWordsAndUnknownWordsIsNone) {
  EXPECT_TRUE(NearestCauses("").empty());
  EXPECT_TRUE(NearestCauses("2024-11-02 17:03:11 and the of 0x7f").empty());
  EXPECT_TRUE(NearestCauses("qwertzuiop").empty());
}

TEST(Nearest, LeavesOutWhatOnlyMusterReports) {
  const auto nearest = NearestCauses("usage of an option is invalid");
  EXPECT_FALSE(nearest.empty());
  for (const Nearness& near : nearest) {
    EXPECT_NE(Family(near.cause), "muster") << Label(near.cause);
  }
}

}  // namespace
}  // namespace muster::diagnose
