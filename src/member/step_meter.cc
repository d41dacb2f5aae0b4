// SPDX-License-Identifier: Apache-2.0
#include "member/step_meter.h"

#include <algorithm>
#include <atomic>
#include <chrono>

namespace muster {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

// CLOCK_MONOTONIC, as the agent reads it.
std::uint64_t Now() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(
          Deadline::Clock::now().time_since_epoch())
          .count());
}

// One writer per slot: a plain load and store, no locked instruction.
void Add(std::atomic<std::uint64_t>& sum, std::uint64_t amount) {
  sum.store(sum.load(kRelaxed) + amount, kRelaxed);
}

}  // namespace

void StepMeter::Resume(std::uint64_t step) {
  slot_->step.store(step, kRelaxed);
  slot_->resumed_step.store(step, kRelaxed);
  slot_->checkpoint_step.store(step, kRelaxed);
  SetPhase(wire::Phase::kStart, Now());
}

void StepMeter::TellClasses(int classes) {
  slot_->classes.store(static_cast<std::uint32_t>(std::max(classes, 0)),
                       kRelaxed);
}

void StepMeter::BeginStep() {
  step_began_ = Now();
}

void StepMeter::EndStep(const StepNews& news) {
  std::uint64_t now = Now();
  std::uint64_t took = step_began_ == 0 ? 0 : now - step_began_;
  std::uint64_t done = slot_->steps.load(kRelaxed) + 1;
  slot_->steps.store(done, kRelaxed);
  slot_->step.store(news.step, kRelaxed);
  Add(slot_->samples, news.samples);
  Add(slot_->step_sum_ns, took);
  Add(slot_->input_wait_sum_ns,
      static_cast<std::uint64_t>(news.input_wait.count()));
  slot_->loss.store(news.loss, kRelaxed);
  slot_->unchanged_steps.store(news.unchanged_steps, kRelaxed);
  if (done == 1) {
    slot_->first_step_ns.store(now, kRelaxed);
  }
  // The first steps warm caches up and say nothing about the later ones.
  constexpr std::uint64_t kWarmUp = 3;
  if (done > kWarmUp && took > slot_->largest_step_ns.load(kRelaxed)) {
    slot_->largest_step_ns.store(took, kRelaxed);
  }
  step_began_ = now;
  if (phase_ != wire::Phase::kStep) {
    SetPhase(wire::Phase::kStep, now);
  } else {
    slot_->beat_ns.store(now, kRelaxed);
  }
}

void StepMeter::Enter(wire::Phase phase) {
  before_ = phase_;
  entered_ = Now();
  SetPhase(phase, entered_);
}

void StepMeter::Leave() {
  std::uint64_t now = Now();
  std::uint64_t took = now - entered_;
  if (phase_ == wire::Phase::kCheckpoint) {
    Add(slot_->checkpoint_sum_ns, took);
  } else if (phase_ == wire::Phase::kEvaluate) {
    Add(slot_->evaluate_sum_ns, took);
  }
  step_began_ = now;
  SetPhase(before_, now);
}

void StepMeter::Checkpointed(std::uint64_t step) {
  slot_->checkpoint_step.store(step, kRelaxed);
}

void StepMeter::Finished() {
  SetPhase(wire::Phase::kFinished, Now());
}

void StepMeter::Beat() {
  slot_->beat_ns.store(Now(), kRelaxed);
}

void StepMeter::SetPhase(wire::Phase phase, std::uint64_t now) {
  phase_ = phase;
  slot_->phase.store(static_cast<std::uint32_t>(phase), kRelaxed);
  slot_->phase_since_ns.store(now, kRelaxed);
  slot_->beat_ns.store(now, kRelaxed);
}

}  // namespace muster
