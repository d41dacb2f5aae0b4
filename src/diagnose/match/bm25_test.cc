// SPDX-License-Identifier: Apache-2.0
#include "diagnose/match/bm25.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::diagnose {
namespace {

TEST(Nearest, IsTheCauseWhoseWordsTheTextHas) {
  const auto near = SimilarCauses(
      "the shared memory of the loader's workers in /dev/shm is too small");
  ASSERT_GT(near.size(), 1U);
  EXPECT_EQ(near[0].cause, Cause::kShmTooSmall);
  EXPECT_GE(near[0].score, near[1].score);
}

TEST(Nearest, TakesFormsOfAWordForOne) {
  const auto near = SimilarCauses("Preempted PREEMPTION preempts");
  ASSERT_FALSE(near.empty());
  EXPECT_EQ(near[0].cause, Cause::kPreempted);
  EXPECT_THAT(near[0].words, testing::Contains("preempted"));
}

TEST(Nearest, CountsAWordOnce) {
  const auto once = SimilarCauses("quota");
  const auto often = SimilarCauses("quota quota quota");
  ASSERT_FALSE(once.empty());
  EXPECT_DOUBLE_EQ(once[0].score, often[0].score);
}

TEST(Nearest, OfNumbersStopWordsAndUnknownWordsIsNone) {
  EXPECT_TRUE(SimilarCauses("").empty());
  EXPECT_TRUE(SimilarCauses("2024-11-02 17:03:11 and the of 0x7f").empty());
  EXPECT_TRUE(SimilarCauses("qwertzuiop").empty());
}

TEST(Nearest, LeavesOutWhatOnlyMusterReports) {
  const auto nearest = SimilarCauses("usage of an option is invalid");
  EXPECT_FALSE(nearest.empty());
  for (const Nearness& near : nearest) {
    EXPECT_NE(Family(near.cause), "muster") << Label(near.cause);
  }
}

}  // namespace
}  // namespace muster::diagnose
