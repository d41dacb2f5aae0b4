// SPDX-License-Identifier: Apache-2.0
// The progress of all ranks, seen as one training.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "sys/time/clock.h"
#include "wire/progress_page.h"

namespace muster::monitor {

// How the training goes now.
struct TrainingView {
  int ranks = 0;                              // that report
  wire::Phase phase = wire::Phase::kUnknown;  // of the rank that is least far
  std::uint64_t step = 0;                     // that all ranks have done
  // Of these, done in this attempt; before the first there is no loss and no
  // input wait.
  std::uint64_t steps = 0;
  double loss = 0;  // mean over the ranks that have done a step
  // Over the last seconds; nullopt: not enough was seen yet.
  std::optional<double> steps_per_s;
  std::optional<double> samples_per_s;  // of all ranks
  double input_wait = 0;  // share of the step time, of the rank that waits most
  // The loss has been that of guessing (ln of the number of classes) since this
  // step; nullopt: it is not, or the program does not tell its classes.
  std::optional<std::uint64_t> flat_since;
};

// One per run; not thread-safe. Pure but for what it is told.
class Training {
 public:
  // A new attempt.
  void Begin();
  void Observe(int rank, const wire::RankProgress& progress,
               sys::Clock::Steady now);
  TrainingView View() const;

 private:
  struct Point {
    sys::Clock::Steady at{};
    std::uint64_t steps = 0;
    std::uint64_t samples = 0;
    std::uint64_t step_ns = 0;
    std::uint64_t wait_ns = 0;
  };

  void NotePace(sys::Clock::Steady now);
  void NoteLoss();
  double MeanLoss() const;

  std::map<int, wire::RankProgress> ranks_;
  std::deque<Point> points_;  // of the last seconds
  std::optional<std::uint64_t> flat_since_;
};

// True when the loss is that of guessing among so many classes.
bool IsChance(double loss, std::uint32_t classes);

}  // namespace muster::monitor
