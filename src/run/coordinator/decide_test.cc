// SPDX-License-Identifier: Apache-2.0
#include "run/coordinator/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::run {
namespace {

using Kind = record::Failure::Kind;
using testing::HasSubstr;

constexpr sys::Clock::Steady kNow{std::chrono::seconds(5)};

record::Failure Killed(std::uint64_t step = 0) {
  return {.kind = Kind::kSignal,
          .cause = Cause::kPeerDied,
          .rank = 1,
          .status = 9,
          .step = step};
}

Decision Judge(const record::Failure& failure, const RunState& state = {},
               const AttemptReach& reach = {}, int max_restarts = 3) {
  return Decide(kNow, state, failure, reach, {.max_restarts = max_restarts});
}

// The end of a run in which every attempt fails like this.
Decision Exhaust(const record::Failure& failure, int max_restarts) {
  RunState state;
  for (;;) {
    const auto decision = Judge(failure, state, {}, max_restarts);
    if (!decision.restart) {
      return decision;
    }
    state = decision.state;
  }
}

TEST(Decide, RestartsAfterASignalThatWeDidNotSend) {
  const auto decision = Judge(Killed());
  EXPECT_TRUE(decision.restart);
  EXPECT_EQ(decision.not_before, kNow);
  EXPECT_EQ(decision.reason, "restart 1 of 3");
  EXPECT_EQ(decision.state.restarts, 1);
}

TEST(Decide, RestartsOnlyTransientCauses) {
  for (const Cause cause : AllCauses()) {
    const record::Failure failure{
        .kind = Kind::kExit, .cause = cause, .status = 1};
    EXPECT_EQ(Judge(failure).restart, RetryOf(cause) == Retry::kTransient)
        << Label(cause);
  }
  EXPECT_FALSE(Judge({.kind = Kind::kExit, .status = 3}).restart);
  EXPECT_TRUE(
      Judge({.kind = Kind::kExit, .cause = Cause::kNetPortInUse, .status = 1})
          .restart);
  EXPECT_TRUE(
      Judge({.kind = Kind::kStandstill, .cause = Cause::kNoProgress}).restart);
}

TEST(Decide, NeverRestartsAWrongCommand) {
  for (const int status : {2, 126, 127}) {
    const auto decision = Judge(
        {.kind = Kind::kExit, .cause = Cause::kPeerDied, .status = status});
    EXPECT_FALSE(decision.restart);
    EXPECT_EQ(decision.exit_code, status);
    EXPECT_EQ(decision.origin, Origin::kProgram);
  }
  const auto missing = Judge({.kind = Kind::kNotStarted,
                              .cause = Cause::kProgramNotFound,
                              .status = 127});
  EXPECT_EQ(missing.exit_code, 127);
  EXPECT_EQ(missing.origin, Origin::kMuster);
}

TEST(Decide, EndsWithTheCodeOfTheFailureWhenTheBudgetIsGone) {
  const auto code = [](const record::Failure& failure) {
    return Exhaust(failure, 2).exit_code;
  };
  EXPECT_EQ(code(Killed()), 137);
  EXPECT_EQ(code({.kind = Kind::kExit, .cause = Cause::kPeerDied, .status = 7}),
            7);
  EXPECT_EQ(code({.kind = Kind::kHostLost, .cause = Cause::kPeerDied}), 75);
  EXPECT_EQ(code({.kind = Kind::kStandstill, .cause = Cause::kNoProgress}),
            124);
  EXPECT_EQ(Exhaust(Killed(), 2).origin, Origin::kSignal);
  EXPECT_EQ(Exhaust(Killed(), 2).reason,
            "no restart: 2 restarts without progress, max_restarts is 2");
  EXPECT_EQ(Exhaust(Killed(), 0).reason, "no restart: max_restarts is 0");
}

TEST(Decide, EndsAtOnceWhenInterruptedOrNotSetUp) {
  const auto interrupted =
      Judge({.kind = Kind::kInterrupted, .cause = Cause::kCancelled});
  EXPECT_FALSE(interrupted.restart);
  EXPECT_EQ(interrupted.exit_code, 130);
  const auto incomplete =
      Judge({.kind = Kind::kSetUp, .cause = Cause::kRendezvousTimeout});
  EXPECT_FALSE(incomplete.restart);
  EXPECT_EQ(incomplete.exit_code, 125);
}

TEST(Decide, StopsAtTheSameFailureAtTheSameStep) {
  auto first = Judge(Killed(150), {}, {.step = 150, .checkpoint = 100});
  ASSERT_TRUE(first.restart);
  const auto second =
      Judge(Killed(150), first.state, {.step = 150, .checkpoint = 100});
  EXPECT_FALSE(second.restart);
  EXPECT_EQ(second.exit_code, 93);
  EXPECT_THAT(second.reason, HasSubstr("step 150"));
}

TEST(Decide, AnotherStepOrAnotherFailureIsNotTheSame) {
  const auto first = Judge(Killed(150), {}, {.step = 150});
  EXPECT_TRUE(Judge(Killed(151), first.state, {.step = 151}).restart);
  auto other = Killed(150);
  other.status = 11;
  EXPECT_TRUE(Judge(other, first.state, {.step = 150}).restart);
}

TEST(Decide, WithoutStepsTheBudgetAloneDecides) {
  const auto first = Judge(Killed());
  EXPECT_TRUE(Judge(Killed(), first.state).restart);
}

TEST(Decide, ProgressRefillsTheBudget) {
  RunState state;
  for (std::uint64_t step = 100; step < 2000; step += 100) {
    const auto decision = Judge(Killed(step), state, {.step = step});
    ASSERT_TRUE(decision.restart) << step;
    EXPECT_EQ(decision.state.restarts, 1);
    state = decision.state;
  }
}

TEST(Decide, AStepThatWasReachedBeforeIsNoProgress) {
  RunState state{.restarts = 3, .furthest_step = 200};
  EXPECT_FALSE(Judge(Killed(190), state, {.step = 190}).restart);
  EXPECT_TRUE(Judge(Killed(210), state, {.step = 210}).restart);
  EXPECT_TRUE(
      Judge(Killed(190), state, {.step = 190, .checkpoint = 100}).restart);
}

TEST(Decide, LeavesMoreTimeBeforeEachFurtherRestart) {
  RunState state;
  Duration last(-1);
  for (int i = 0; i < 8; ++i) {
    const auto decision = Judge(Killed(), state, {}, 100);
    const Duration wait = decision.not_before - kNow;
    EXPECT_GE(wait, last);
    EXPECT_LE(wait, std::chrono::seconds(10));
    last = wait;
    state = decision.state;
  }
}

}  // namespace
}  // namespace muster::run
