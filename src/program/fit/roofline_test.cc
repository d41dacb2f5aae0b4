// SPDX-License-Identifier: Apache-2.0
#include "program/fit/roofline.h"

#include <gtest/gtest.h>

namespace muster::program {
namespace {

TEST(FastestRun, IsTheLongerOfComputingAndMoving) {
  const auto computes =
      FastestRun("v5e:2x4", 8, {.flops = 197e12, .bytes = 82e9});
  ASSERT_TRUE(computes);
  EXPECT_DOUBLE_EQ(computes->seconds, 1);
  EXPECT_DOUBLE_EQ(computes->bytes_seconds, 0.1);
  EXPECT_DOUBLE_EQ(FastestRun("v5e:2x4", 8, {.bytes = 1640e9})->seconds, 2);
}

TEST(FastestRun, DividesAChipAmongItsDevices) {
  EXPECT_DOUBLE_EQ(FastestRun("v2:2x2", 8, {.flops = 46e12})->seconds, 2);
  EXPECT_DOUBLE_EQ(FastestRun("v4:2x2x1", 4, {.flops = 275e12})->seconds, 1);
  EXPECT_DOUBLE_EQ(FastestRun("v4:2x2x1", 8, {.flops = 275e12})->seconds, 2);
  EXPECT_DOUBLE_EQ(FastestRun("v5:2x2x1", 4, {.flops = 459e12})->seconds, 1);
}

TEST(FastestRun, IsNotKnownWithoutFiguresOrWork) {
  EXPECT_FALSE(FastestRun("v5e:2x4", 8, {}));
  EXPECT_FALSE(FastestRun("v9:2x4", 8, {.flops = 1}));
  EXPECT_FALSE(FastestRun("h100:2x4", 8, {.flops = 1}));
  EXPECT_FALSE(FastestRun("v5e:2x4", 0, {.flops = 1}));
  EXPECT_FALSE(FastestRun("v5e", 1, {.flops = 1}));
  EXPECT_FALSE(FastestRun("", 1, {.flops = 1}));
}

}  // namespace
}  // namespace muster::program
