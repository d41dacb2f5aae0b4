// SPDX-License-Identifier: Apache-2.0
#include "evidence/prefix.h"

#include <gtest/gtest.h>

namespace muster::evidence {
namespace {

TEST(Prefix, ReadsTimesOfFrameworks) {
  const auto at = ReadPrefix("2024-10-09 15:47:38.568412: E coord.cc:1] x").at;
  ASSERT_TRUE(at);
  EXPECT_EQ(at->time_since_epoch().count(), 1728488858568412);
  EXPECT_EQ(ReadPrefix("[2024-10-09 15:47:38,568] [INFO] x").at,
            *at - std::chrono::microseconds(412));
  EXPECT_TRUE(
      ReadPrefix("slurmstepd: *** JOB 6 AT 2022-08-12T02:06:12 ***").at);
  EXPECT_FALSE(ReadPrefix("loss 0.1 at 2024-13-09 15:47:38").at);
}

TEST(Prefix, ReadsRanksOfLaunchers) {
  EXPECT_EQ(ReadPrefix("[rank7]:[E ProcessGroupNCCL.cpp:1] x").rank, 7);
  EXPECT_EQ(ReadPrefix("[1,12]<stderr>:x").rank, 12);
  EXPECT_EQ(ReadPrefix("3: Traceback").rank, 3);
  EXPECT_EQ(ReadPrefix("[Rank 2] Watchdog").rank, 2);
  EXPECT_EQ(ReadPrefix("epoch 3: loss").rank, -1);
}

TEST(Prefix, ReadsTheHostOfNccl) {
  EXPECT_EQ(ReadPrefix("gpu47:4962:5097 [1] NCCL WARN x").host, "gpu47");
  EXPECT_EQ(ReadPrefix("no such thing").host, "");
}

}  // namespace
}  // namespace muster::evidence
