// SPDX-License-Identifier: Apache-2.0
// What follows from the end of an attempt: another one, or the end of the run.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "muster/cause.h"
#include "muster/deadline.h"
#include "record/failure.h"
#include "sys/time/clock.h"

namespace muster::run {

// Where the exit code comes from: the program's own status, the signal that
// ended a rank, or a decision of ours.
enum class Origin { kProgram, kSignal, kMuster };
std::string_view OriginName(Origin origin);

// What the run has seen so far.
struct RunState {
  int restarts = 0;  // since the last progress
  // Furthest points over all attempts before this failure.
  std::uint64_t furthest_step = 0;
  std::uint64_t furthest_checkpoint = 0;
  std::optional<record::Failure> previous;  // of the attempt before
};

// How far the attempt that just failed has come.
struct AttemptReach {
  std::uint64_t step = 0;
  std::uint64_t checkpoint = 0;
};

struct DecideOptions {
  int max_restarts = 3;
};

struct Decision {
  bool restart = false;
  std::string reason;  // one line, for people
  // When restarting: not before this, and what the state is then.
  sys::Clock::Steady not_before{};
  RunState state;
  // When stopping.
  int exit_code = 0;
  Origin origin = Origin::kMuster;
};

// Restarts what a repeat can heal, as long as the budget lasts; progress
// refills it. The same failure at the same step twice is not healed by a third
// time.
Decision Decide(sys::Clock::Steady now, const RunState& state,
                const record::Failure& failure, const AttemptReach& reach,
                const DecideOptions& options);

}  // namespace muster::run
