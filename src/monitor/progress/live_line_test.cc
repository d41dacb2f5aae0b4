// SPDX-License-Identifier: Apache-2.0
#include "monitor/progress/live_line.h"

#include <gtest/gtest.h>

namespace muster::monitor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Live, SaysHowTheTrainingGoes) {
  const TrainingView view{.ranks = 2,
                          .phase = wire::Phase::kStep,
                          .step = 1200,
                          .steps = 200,
                          .loss = 0.43119,
                          .steps_per_s = 411.7,
                          .input_wait = 0.021};
  EXPECT_EQ(LiveText(view, {.running = 2, .elapsed = seconds(12)}),
            "step 1200  412 steps/s  loss 0.4312  input wait 2 %  2 ranks  "
            "12.0 s");
}

TEST(Live, SaysThePhaseAndTheAttemptWhenTheyAreNotTheUsualOnes) {
  const TrainingView view{.ranks = 1, .phase = wire::Phase::kStart};
  EXPECT_EQ(LiveText(view, {.running = 1, .attempt = 2, .elapsed = seconds(3)}),
            "step 0  (start)  1 rank  attempt 2  3.0 s");
}

TEST(Live, SaysNoLossBeforeTheFirstStepOfAnAttempt) {
  const TrainingView view{
      .ranks = 1, .phase = wire::Phase::kStart, .step = 100};
  EXPECT_EQ(LiveText(view, {.running = 1, .attempt = 2, .elapsed = seconds(3)}),
            "step 100  (start)  1 rank  attempt 2  3.0 s");
}

TEST(Live, SaysThatAProgramReportsNothing) {
  EXPECT_EQ(LiveText({}, {.running = 4, .elapsed = milliseconds(1500)}),
            "running, no steps reported  4 ranks  1.5 s");
}

TEST(Live, KeepsItsPace) {
  const sys::Clock::Steady start{};
  LivePace terminal(true, start);
  EXPECT_FALSE(terminal.Due(start + milliseconds(99)));
  EXPECT_TRUE(terminal.Due(start + milliseconds(100)));
  EXPECT_FALSE(terminal.Due(start + milliseconds(150)));
  LivePace file(false, start);
  EXPECT_FALSE(file.Due(start + seconds(29)));
  EXPECT_TRUE(file.Due(start + seconds(30)));
}

}  // namespace
}  // namespace muster::monitor
