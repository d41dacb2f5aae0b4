// SPDX-License-Identifier: Apache-2.0
#include "run/coordinator/decide.h"

#include <algorithm>

#include "base/text.h"
#include "finding/exit_code.h"

namespace muster::run {
namespace {

using Kind = record::Failure::Kind;

// DESIGN section 7.
constexpr int kHostLostCode = 75;
constexpr int kNoProgressCode = 93;
constexpr int kHangCode = 124;
constexpr int kSetUpCode = 125;
constexpr int kNotExecutableCode = 126;
constexpr int kNotFoundCode = 127;
constexpr int kSignalBase = 128;
constexpr int kUsageStatus = 2;

// The code of a run that ends with this failure, and whose code it is.
std::pair<int, Origin> CodeOf(const record::Failure& failure) {
  switch (failure.kind) {
    case Kind::kExit:
      return {failure.status, Origin::kProgram};
    case Kind::kSignal:
      return {kSignalBase + failure.status, Origin::kSignal};
    case Kind::kNotStarted:
      return {failure.status, Origin::kMuster};
    case Kind::kHostLost:
      return {kHostLostCode, Origin::kMuster};
    case Kind::kStandstill:
      return {kHangCode, Origin::kMuster};
    case Kind::kInterrupted:
      return {kExitInterrupted, Origin::kMuster};
    case Kind::kSetUp:
      break;
  }
  return {kSetUpCode, Origin::kMuster};
}

// Why no repeat can heal it; empty: one may.
std::string WhyFinal(const record::Failure& failure) {
  switch (failure.kind) {
    case Kind::kInterrupted:
      return "interrupted";
    case Kind::kNotStarted:
      return "the program cannot be started";
    case Kind::kSetUp:
      return "the run could not be set up";
    case Kind::kHostLost:
    case Kind::kStandstill:
      return "";
    case Kind::kExit:
      if (failure.status == kUsageStatus ||
          failure.status == kNotExecutableCode ||
          failure.status == kNotFoundCode) {
        return "status " + std::to_string(failure.status) +
               " means that the command is invalid";
      }
      break;
    case Kind::kSignal:
      break;
  }
  if (RetryOf(failure.cause) != Retry::kTransient) {
    return "a restart does not fix " + std::string(Label(failure.cause));
  }
  return "";
}

bool SameAtTheSameStep(const record::Failure& a, const record::Failure& b) {
  return a.step > 0 && a.step == b.step && a.kind == b.kind &&
         a.cause == b.cause && a.status == b.status;
}

// The first restart is at once; later ones leave time for whatever is wrong to
// pass.
Duration Backoff(int restarts) {
  if (restarts == 0) {
    return Duration::zero();
  }
  const std::chrono::milliseconds longest(10'000);
  return std::min(
      longest, std::chrono::milliseconds(500) * (1 << std::min(restarts, 5)));
}

Decision Stop(std::string reason, const RunState& state,
              std::pair<int, Origin> code) {
  return {.reason = std::move(reason),
          .state = state,
          .exit_code = code.first,
          .origin = code.second};
}

}  // namespace

std::string_view OriginName(Origin origin) {
  switch (origin) {
    case Origin::kProgram:
      return "program";
    case Origin::kSignal:
      return "signal";
    case Origin::kMuster:
      break;
  }
  return "muster";
}

Decision Decide(sys::Clock::Steady now, const RunState& state,
                const record::Failure& failure, const AttemptReach& reach,
                const DecideOptions& options) {
  if (const auto why = WhyFinal(failure); !why.empty()) {
    return Stop("no restart: " + why, state, CodeOf(failure));
  }
  if (state.previous && SameAtTheSameStep(*state.previous, failure)) {
    return Stop("no restart: the same failure at step " +
                    std::to_string(failure.step) +
                    " for the second time, so a restart does not help",
                state, {kNoProgressCode, Origin::kMuster});
  }
  RunState next = state;
  const bool progress = reach.step > state.furthest_step ||
                        reach.checkpoint > state.furthest_checkpoint;
  if (progress) {
    next.restarts = 0;
    next.furthest_step = std::max(reach.step, state.furthest_step);
    next.furthest_checkpoint =
        std::max(reach.checkpoint, state.furthest_checkpoint);
  }
  if (next.restarts >= options.max_restarts) {
    return Stop(options.max_restarts == 0
                    ? "no restart: max_restarts is 0"
                    : "no restart: " + Count(next.restarts, "restart") +
                          " without progress, max_restarts is " +
                          std::to_string(options.max_restarts),
                next, CodeOf(failure));
  }
  const Duration wait = Backoff(next.restarts);
  ++next.restarts;
  next.previous = failure;
  return {
      .restart = true,
      .reason =
          "restart " + std::to_string(next.restarts) + " of " +
          std::to_string(options.max_restarts) +
          (wait > Duration::zero() ? " in " + ToString(wait) : std::string()),
      .not_before =
          now + std::chrono::duration_cast<sys::Clock::Steady::duration>(wait),
      .state = next};
}

}  // namespace muster::run
