// SPDX-License-Identifier: Apache-2.0
#include "monitor/progress/training.h"

#include <gtest/gtest.h>

#include <cmath>

namespace muster::monitor {
namespace {

constexpr sys::Clock::Steady kStart{std::chrono::seconds(10)};

wire::RankProgress Step(std::uint64_t step, double loss = 1) {
  return {.phase = wire::Phase::kStep,
          .classes = 10,
          .step = 100 + step,
          .steps = step,
          .samples = 64 * step,
          .step_sum_ns = 10'000'000 * step,
          .input_wait_sum_ns = 4'000'000 * step,
          .loss = loss};
}

TEST(Training, SaysHowFastAllRanksGo) {
  Training training;
  training.Observe(0, Step(0, 1), kStart);
  training.Observe(1, Step(0, 3), kStart);
  EXPECT_FALSE(training.View().steps_per_s);
  const auto later = kStart + std::chrono::seconds(2);
  training.Observe(0, Step(200, 1), later);
  training.Observe(1, Step(198, 3), later);
  const auto view = training.View();
  EXPECT_EQ(view.ranks, 2);
  EXPECT_EQ(view.step, 298);
  EXPECT_DOUBLE_EQ(view.loss, 2);
  EXPECT_DOUBLE_EQ(*view.steps_per_s, 99);
  EXPECT_DOUBLE_EQ(*view.samples_per_s, 64 * 199);
  EXPECT_NEAR(view.input_wait, 0.4, 1e-9);
}

TEST(Training, ForgetsWhatIsLongAgo) {
  Training training;
  for (int second = 0; second <= 60; ++second) {
    const auto steps = static_cast<std::uint64_t>(
        second <= 50 ? second * 10 : 500 + (second - 50) * 100);
    training.Observe(0, Step(steps), kStart + std::chrono::seconds(second));
  }
  EXPECT_NEAR(*training.View().steps_per_s, 100, 1);
}

TEST(Training, SeesALossThatStaysAtChance) {
  Training training;
  training.Observe(0, Step(1, std::log(10)), kStart);
  training.Observe(0, Step(300, std::log(10) * 1.01), kStart);
  EXPECT_EQ(training.View().flat_since, 101);
  training.Observe(0, Step(301, 1.5), kStart);
  EXPECT_FALSE(training.View().flat_since);
}

TEST(Training, TakesTheLossOfThoseThatHaveDoneAStep) {
  Training training;
  training.Observe(0, Step(0, 0), kStart);
  training.Observe(1, Step(3, 2.5), kStart);
  EXPECT_EQ(training.View().steps, 0U);
  EXPECT_DOUBLE_EQ(training.View().loss, 2.5);
  training.Observe(0, Step(2, 1.5), kStart);
  EXPECT_EQ(training.View().steps, 2U);
  EXPECT_DOUBLE_EQ(training.View().loss, 2);
}

TEST(Training, KnowsNoChanceWithoutClasses) {
  EXPECT_FALSE(IsChance(0, 0));
  EXPECT_FALSE(IsChance(0, 1));
  EXPECT_TRUE(IsChance(0.69, 2));
  EXPECT_FALSE(IsChance(std::nan(""), 10));
}

TEST(Training, ProgramsThatReportNothingAreNotCounted) {
  Training training;
  training.Observe(0, {}, kStart);
  EXPECT_EQ(training.View().ranks, 0);
  training.Observe(0, Step(5), kStart);
  training.Begin();
  EXPECT_EQ(training.View().ranks, 0);
}

}  // namespace
}  // namespace muster::monitor
