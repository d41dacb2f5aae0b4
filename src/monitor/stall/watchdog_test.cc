// SPDX-License-Identifier: Apache-2.0
#include "monitor/stall/watchdog.h"

#include <gtest/gtest.h>

namespace muster::monitor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Ranks whose progress page and /proc the test writes, sampled every 200 ms.
class WatchdogTest : public testing::Test {
 protected:
  WatchdogTest() {
    Add(0);
    Add(1);
  }

  void Add(int rank) {
    ranks_[rank] = {.rank = rank,
                    .progress = {.phase = wire::Phase::kStep, .step = 5},
                    .state = 'S',
                    .wait_channel = "futex_do_wait"};
  }
  wire::RankSample& At(int rank) { return ranks_[rank]; }

  void Sample() {
    wire::Progress progress{.now_ns = now_.count()};
    for (const auto& [rank, sample] : ranks_) {
      progress.ranks.push_back(sample);
    }
    dog_.Observe(progress);
  }
  // Time in which nobody moves.
  void Idle(Duration time) {
    for (Duration passed{}; passed < time; passed += milliseconds(200)) {
      now_ += milliseconds(200);
      Sample();
    }
  }

  Watchdog dog_{WatchLimits{}};
  Duration now_ = seconds(100);
  std::map<int, wire::RankSample> ranks_;
};

TEST_F(WatchdogTest, IsQuietWhileStepsAdvance) {
  for (int step = 0; step < 30; ++step) {
    At(0).progress.step += 1;
    At(1).progress.step += 1;
    Idle(seconds(5));
    ASSERT_FALSE(dog_.Check());
  }
}

TEST_F(WatchdogTest, NamesAStoppedRankOnceWhateverItReports) {
  for (const auto phase : {wire::Phase::kUnknown, wire::Phase::kStart}) {
    At(1).progress = {.phase = phase};
    At(1).state = 'T';
    Idle(seconds(5));
    EXPECT_EQ(dog_.TakeStopped(), std::vector{1});
    Idle(seconds(5));
    EXPECT_EQ(dog_.TakeStopped(), std::vector<int>());
    At(1).state = 'S';
    Idle(seconds(1));
    EXPECT_EQ(dog_.TakeStopped(), std::vector<int>());
  }
}

TEST_F(WatchdogTest, BlamesARankStoppedBeforeItsFirstReportWhenAsked) {
  Watchdog asked({.step_floor = seconds(5), .step_factor = 0, .asked = true});
  std::swap(dog_, asked);
  for (const int rank : {0, 1}) {
    At(rank).progress = {};
  }
  At(1).state = 'T';
  Idle(seconds(6));
  const auto found = dog_.Check();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ranks.front().rank, 1);
  EXPECT_EQ(found->confidence, Confidence::kCertain);
  std::swap(dog_, asked);
  Idle(seconds(60));
  EXPECT_FALSE(dog_.Check());
}

TEST_F(WatchdogTest, ExcusesAllWhileTheOutputOfOneIsHeld) {
  At(0).output_held = true;
  Idle(seconds(60));
  EXPECT_FALSE(dog_.Check());
  At(0).output_held = false;
  Idle(seconds(11));
  EXPECT_TRUE(dog_.Check());
}

TEST_F(WatchdogTest, IsBlindWhereNoRankReportsWhatIsAskedFor) {
  At(0).progress = {};
  At(1).progress = {};
  Sample();
  Idle(seconds(20));
  EXPECT_FALSE(dog_.IsBlind());
  dog_ = Watchdog({.asked = true});
  Sample();
  Idle(seconds(9));
  EXPECT_FALSE(dog_.IsBlind());
  Idle(seconds(2));
  EXPECT_TRUE(dog_.IsBlind());
  EXPECT_FALSE(dog_.Check());
  At(1).progress = {.phase = wire::Phase::kStart};
  Sample();
  EXPECT_FALSE(dog_.IsBlind());
}

TEST_F(WatchdogTest, NamesTheStoppedRankWithItsState) {
  At(1).state = 'T';
  Sample();
  Idle(seconds(10));
  ASSERT_FALSE(dog_.Check());
  Idle(milliseconds(200));
  const auto found = dog_.Check();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->culprits, 1);
  EXPECT_EQ(found->ranks[0].rank, 1);
  EXPECT_EQ(found->ranks[0].state, 'T');
  EXPECT_EQ(found->ranks[0].limit, seconds(10));
  EXPECT_EQ(found->confidence, Confidence::kCertain);
  EXPECT_EQ(found->ranks.size(), 2);
}

TEST_F(WatchdogTest, AStoppedRankMayNotUseThePatienceOfALongPhase) {
  At(1).progress.phase = wire::Phase::kCheckpoint;
  At(1).state = 'T';
  Sample();
  Idle(seconds(11));
  ASSERT_TRUE(dog_.Check());
  EXPECT_EQ(dog_.Check()->ranks[0].rank, 1);
}

TEST_F(WatchdogTest, BlamesTheRankThatIsBehind) {
  At(0).progress.step = 4;
  Sample();
  Idle(seconds(11));
  const auto found = dog_.Check();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->culprits, 1);
  EXPECT_EQ(found->ranks[0].rank, 0);
  EXPECT_EQ(found->confidence, Confidence::kLikely);
  EXPECT_EQ(found->why, "rank 0 is at step 4, others at step 5");
}

TEST_F(WatchdogTest, BlamesTheRankThatDoesNotWait) {
  At(1).wait_channel = "hrtimer_nanosleep";
  Sample();
  Idle(seconds(11));
  EXPECT_EQ(dog_.Check()->ranks[0].rank, 1);
  EXPECT_EQ(dog_.Check()->confidence, Confidence::kLikely);
}

TEST_F(WatchdogTest, BoundsWhatAPageCallsAStep) {
  At(0).progress.largest_step_ns = ~std::uint64_t{0};
  Sample();
  EXPECT_EQ(dog_.Limit(wire::Phase::kStep), std::chrono::hours(5 * 24));
}

TEST_F(WatchdogTest, SaysWhenItCannotTellWhoIsToBlame) {
  At(1).wait_channel = "0";
  Sample();
  Idle(seconds(11));
  EXPECT_EQ(dog_.Check()->culprits, 2);
  EXPECT_EQ(dog_.Check()->confidence, Confidence::kPossible);
}

TEST_F(WatchdogTest, LearnsTheNormalGapAndKeepsItOverAttempts) {
  At(0).progress.largest_step_ns = 4'000'000'000;
  Sample();
  EXPECT_EQ(dog_.Limit(wire::Phase::kStep), seconds(20));
  dog_.Begin();
  At(0).progress.largest_step_ns = 0;
  Sample();
  Idle(seconds(19));
  EXPECT_FALSE(dog_.Check());
  Idle(seconds(2));
  EXPECT_TRUE(dog_.Check());
}

TEST_F(WatchdogTest, WaitsWhileOneRankIsInALongPhase) {
  At(0).progress.phase = wire::Phase::kCheckpoint;
  Sample();
  Idle(seconds(599));
  EXPECT_FALSE(dog_.Check());
  Idle(seconds(2));
  ASSERT_TRUE(dog_.Check());
  EXPECT_EQ(dog_.Check()->ranks.size(), 2);
  EXPECT_EQ(dog_.Check()->why,
            "rank 0 stays in its phase checkpoint while the others wait");
}

TEST_F(WatchdogTest, ABeatWithinAPhaseIsProgress) {
  At(0).progress.phase = At(1).progress.phase = wire::Phase::kEvaluate;
  for (int i = 0; i < 5; ++i) {
    At(0).progress.beat_ns += 1;
    At(1).progress.beat_ns += 1;
    Idle(seconds(300));
    ASSERT_FALSE(dog_.Check());
  }
}

TEST_F(WatchdogTest, ASuspendedHostIsNotAStandstill) {
  Sample();
  now_ += seconds(3600);
  Sample();
  EXPECT_FALSE(dog_.Check());
  Idle(seconds(8));
  EXPECT_FALSE(dog_.Check());
}

TEST_F(WatchdogTest, ProgramsThatReportNothingAreNotJudged) {
  At(0).progress = At(1).progress = {};
  At(0).state = 'T';
  Sample();
  Idle(seconds(3600));
  EXPECT_FALSE(dog_.Check());
}

TEST_F(WatchdogTest, ARankThatHasFinishedOrEndedIsNotJudged) {
  At(0).progress.phase = At(1).progress.phase = wire::Phase::kFinished;
  Sample();
  Idle(seconds(3600));
  EXPECT_FALSE(dog_.Check());
  At(0).progress.phase = At(1).progress.phase = wire::Phase::kStep;
  Sample();
  Idle(seconds(11));
  dog_.Ended(0);
  EXPECT_EQ(dog_.Check()->ranks.size(), 1);
}

TEST_F(WatchdogTest, CanBeTurnedOff) {
  dog_ = Watchdog({.start = std::nullopt, .steps = false});
  Sample();
  Idle(seconds(3600));
  EXPECT_FALSE(dog_.Check());
}

}  // namespace
}  // namespace muster::monitor
