// SPDX-License-Identifier: Apache-2.0
// Writes a rank's progress on its slot of the progress page.
#pragma once

#include <cstdint>

#include "muster/deadline.h"
#include "wire/progress_page.h"

namespace muster {

// What a finished step tells.
struct StepNews {
  std::uint64_t step = 0;     // of the whole training
  std::uint64_t samples = 0;  // of this rank
  Duration input_wait{};
  double loss = 0;
  std::uint64_t unchanged_steps = 0;
};

// A few relaxed stores and one look at the clock per step; no lock, no system
// call. The slot must outlive it. One thread.
class StepMeter {
 public:
  explicit StepMeter(wire::ProgressSlot& slot) : slot_(&slot) {}

  // The training goes on from this step with this many classes to tell apart
  // (0: not known).
  void Resume(std::uint64_t step);
  void TellClasses(int classes);

  // A step begins when its batch is asked for.
  void BeginStep();
  void EndStep(const StepNews& news);

  // Another phase, until Leave; the time is kept by phase.
  void Enter(wire::Phase phase);
  void Leave();
  void Checkpointed(std::uint64_t step);
  void Finished();
  // A sign of life within a long phase.
  void Beat();

 private:
  void SetPhase(wire::Phase phase, std::uint64_t now);

  wire::ProgressSlot* slot_;
  std::uint64_t step_began_ = 0;
  std::uint64_t entered_ = 0;
  wire::Phase phase_ = wire::Phase::kUnknown;
  wire::Phase before_ = wire::Phase::kUnknown;
};

}  // namespace muster
