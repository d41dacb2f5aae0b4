// SPDX-License-Identifier: Apache-2.0
// The progress page: one per host and attempt on which ranks write their
// progress and the agent writes "stop". A rank reports a step with a few
// relaxed stores and no system call; the agent reads the page on its timer, and
// once more after a rank's death, so the last step is known exactly.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "muster/error.h"

namespace muster::wire {

using muster::ToString;  // those declared here do not hide it

// What a rank is doing. Each phase has a limit of its own in the watchdog.
enum class Phase : std::uint32_t {
  kUnknown = 0,  // not a program of libmuster, or not registered yet
  kStart,        // from registration to the first step
  kStep,
  kEvaluate,
  kCheckpoint,
  kFinished,  // the training loop is over
};
std::string_view ToString(Phase phase);

// One rank's slot. Written by that rank only, read by the agent. Times are
// nanoseconds of CLOCK_MONOTONIC, sums are since the start of the attempt.
struct alignas(64) ProgressSlot {
  std::atomic<std::uint32_t> phase{0};
  std::atomic<std::uint32_t> classes{0};  // 0: the program did not tell
  std::atomic<std::uint64_t> phase_since_ns{0};
  std::atomic<std::uint64_t> beat_ns{0};        // last sign of progress
  std::atomic<std::uint64_t> first_step_ns{0};  // when the first step was done
  std::atomic<std::uint64_t> step{0};  // of the whole training, over restarts
  std::atomic<std::uint64_t> resumed_step{0};     // where this attempt began
  std::atomic<std::uint64_t> checkpoint_step{0};  // newest complete one
  std::atomic<std::uint64_t> steps{0};            // done in this attempt
  std::atomic<std::uint64_t> samples{0};          // of this rank, this attempt
  std::atomic<std::uint64_t> step_sum_ns{0};      // with input wait
  std::atomic<std::uint64_t> input_wait_sum_ns{0};
  std::atomic<std::uint64_t> checkpoint_sum_ns{0};
  std::atomic<std::uint64_t> evaluate_sum_ns{0};
  std::atomic<std::uint64_t> largest_step_ns{0};  // after the third step
  std::atomic<double> loss{0};
  std::atomic<std::uint64_t> unchanged_steps{0};  // weights equal for so long
};

inline constexpr std::uint32_t kProgressPageMagic = 0x6d737472;  // "mstr"
inline constexpr std::uint32_t kProgressPageVersion = 1;
inline constexpr std::size_t kProgressSlots = 256;  // ranks of one host

struct ProgressPage {
  std::atomic<std::uint32_t> magic{kProgressPageMagic};
  std::atomic<std::uint32_t> version{kProgressPageVersion};
  // 0: go on. Else 1 + the value of the Cause for which the agent ends every
  // wait of the attempt.
  std::atomic<std::uint32_t> stop{0};
  // The futex (process-shared) on which ranks sleep: whoever changes what a
  // sleeper may wait for adds one and wakes all.
  alignas(64) std::atomic<std::uint32_t> event{0};
  std::atomic<std::uint32_t> sleepers{0};
  alignas(64) std::array<ProgressSlot, kProgressSlots> slots;
};

static_assert(std::atomic<double>::is_always_lock_free);

// Why the agent ended the attempt's waits; nullopt while it has not.
std::optional<Error> StopReason(const ProgressPage& progress_page);

// A slot as plain values: what reports, rules and decisions work on.
struct RankProgress {
  Phase phase = Phase::kUnknown;
  std::uint32_t classes = 0;
  std::uint64_t phase_since_ns = 0;
  std::uint64_t beat_ns = 0;
  std::uint64_t first_step_ns = 0;
  std::uint64_t step = 0;
  std::uint64_t resumed_step = 0;
  std::uint64_t checkpoint_step = 0;
  std::uint64_t steps = 0;
  std::uint64_t samples = 0;
  std::uint64_t step_sum_ns = 0;
  std::uint64_t input_wait_sum_ns = 0;
  std::uint64_t checkpoint_sum_ns = 0;
  std::uint64_t evaluate_sum_ns = 0;
  std::uint64_t largest_step_ns = 0;
  double loss = 0;
  std::uint64_t unchanged_steps = 0;

  bool operator==(const RankProgress&) const = default;
};
RankProgress ReadSlot(const ProgressSlot& slot);

}  // namespace muster::wire
