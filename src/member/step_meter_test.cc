// SPDX-License-Identifier: Apache-2.0
#include "member/step_meter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace muster {
namespace {

TEST(StepMeter, CountsStepsSamplesAndWaits) {
  wire::BoardSlot slot;
  StepMeter meter(slot);
  meter.Resume(40);
  for (std::uint64_t step = 41; step <= 45; ++step) {
    meter.BeginStep();
    meter.EndStep({.step = step,
                   .samples = 64,
                   .input_wait = std::chrono::microseconds(3),
                   .loss = 0.5});
  }
  wire::RankProgress progress = wire::ReadSlot(slot);
  EXPECT_EQ(progress.resumed_step, 40U);
  EXPECT_EQ(progress.step, 45U);
  EXPECT_EQ(progress.steps, 5U);
  EXPECT_EQ(progress.samples, 320U);
  EXPECT_EQ(progress.input_wait_sum_ns, 15000U);
  EXPECT_EQ(progress.loss, 0.5);
  EXPECT_EQ(progress.phase, wire::Phase::kStep);
  EXPECT_GE(progress.step_sum_ns, progress.largest_step_ns);
  EXPECT_GE(progress.beat_ns, progress.first_step_ns);
  EXPECT_GT(progress.first_step_ns, 0U);
}

TEST(StepMeter, KeepsTheTimeOfOtherPhasesApart) {
  wire::BoardSlot slot;
  StepMeter meter(slot);
  meter.Resume(6);
  const auto began = Deadline::Clock::now();
  meter.BeginStep();
  meter.Enter(wire::Phase::kCheckpoint);
  EXPECT_EQ(wire::ReadSlot(slot).phase, wire::Phase::kCheckpoint);
  meter.Checkpointed(7);
  // So that a phase has a length.
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  meter.Leave();
  EXPECT_EQ(wire::ReadSlot(slot).phase, wire::Phase::kStart);
  meter.Enter(wire::Phase::kEvaluate);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  meter.Leave();
  meter.EndStep({.step = 7});
  const wire::RankProgress progress = wire::ReadSlot(slot);
  EXPECT_EQ(progress.checkpoint_step, 7U);
  EXPECT_GT(progress.checkpoint_sum_ns, 0U);
  EXPECT_GT(progress.evaluate_sum_ns, 0U);
  // No moment is counted twice.
  EXPECT_LE(
      std::chrono::nanoseconds(progress.checkpoint_sum_ns +
                               progress.evaluate_sum_ns + progress.step_sum_ns),
      Deadline::Clock::now() - began);
  meter.Finished();
  EXPECT_EQ(wire::ReadSlot(slot).phase, wire::Phase::kFinished);
}

}  // namespace
}  // namespace muster
