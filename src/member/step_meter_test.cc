// SPDX-License-Identifier: Apache-2.0
#include "member/step_meter.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(StepMeter, CountsStepsSamplesAndWaits) {
  BoardSlot slot;
  StepMeter meter(slot);
  meter.Resume(40);
  for (std::uint64_t step = 41; step <= 45; ++step) {
    meter.BeginStep();
    meter.EndStep({.step = step,
                   .samples = 64,
                   .input_wait = std::chrono::microseconds(3),
                   .loss = 0.5});
  }
  RankProgress progress = ReadSlot(slot);
  EXPECT_EQ(progress.resumed_step, 40U);
  EXPECT_EQ(progress.step, 45U);
  EXPECT_EQ(progress.steps, 5U);
  EXPECT_EQ(progress.samples, 320U);
  EXPECT_EQ(progress.input_wait_sum_ns, 15000U);
  EXPECT_EQ(progress.loss, 0.5);
  EXPECT_EQ(progress.phase, Phase::kStep);
  EXPECT_GE(progress.step_sum_ns, progress.largest_step_ns);
  EXPECT_GE(progress.beat_ns, progress.first_step_ns);
  EXPECT_GT(progress.first_step_ns, 0U);
}

TEST(StepMeter, KeepsTheTimeOfOtherPhasesApart) {
  BoardSlot slot;
  StepMeter meter(slot);
  meter.Resume(0);
  meter.Enter(Phase::kCheckpoint);
  EXPECT_EQ(ReadSlot(slot).phase, Phase::kCheckpoint);
  meter.Checkpointed(7);
  meter.Leave();
  EXPECT_EQ(ReadSlot(slot).phase, Phase::kStart);
  EXPECT_EQ(ReadSlot(slot).checkpoint_step, 7U);
  meter.Enter(Phase::kEvaluate);
  meter.Leave();
  EXPECT_EQ(ReadSlot(slot).step_sum_ns, 0U);
  meter.Finished();
  EXPECT_EQ(ReadSlot(slot).phase, Phase::kFinished);
}

}  // namespace
}  // namespace muster
