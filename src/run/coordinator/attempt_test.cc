// SPDX-License-Identifier: Apache-2.0
#include "run/coordinator/attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::run {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kKilled = 9;      // wait status of a SIGKILL
constexpr int kExit3 = 3 << 8;  // of exit(3)

class AttemptTest : public testing::Test {
 protected:
  AttemptTest() {
    for (int rank = 0; rank < 3; ++rank) {
      cluster_.members.push_back({.rank = rank, .index = rank});
    }
    cluster_.members[2].task = "ps";
  }
  static wire::RankExited End(int rank, int wait_status,
                              std::uint64_t step = 0) {
    return {.rank = rank,
            .wait_status = wait_status,
            .progress = {.phase = wire::Phase::kStep,
                         .step = step,
                         .checkpoint_step = step / 10}};
  }

  Cluster cluster_;
  Attempt attempt_{cluster_, 1, {{7, "a", {0}}, {8, "b", {1, 2}}}};
};

TEST_F(AttemptTest, IsDoneWhenAllThatTrainHaveEndedWell) {
  attempt_.Exited(End(0, 0));
  EXPECT_FALSE(attempt_.Done());
  attempt_.Exited(End(1, 0));
  EXPECT_TRUE(attempt_.Done());
  EXPECT_FALSE(attempt_.EndedAll());
  EXPECT_EQ(attempt_.Running(), 1);
}

TEST_F(AttemptTest, IsNotDoneWhenOneFailed) {
  attempt_.Exited(End(0, 0));
  attempt_.Exited(End(1, kKilled));
  EXPECT_TRUE(Attempt::Failed(End(1, kKilled)));
  EXPECT_FALSE(attempt_.Done());
}

TEST_F(AttemptTest, KnowsWorkersThatOutliveTheirChief) {
  cluster_.members[0].task = "chief";
  cluster_.members[1].task = "worker";
  EXPECT_THAT(attempt_.Awaited(), IsEmpty());
  attempt_.Exited(End(0, 0));
  EXPECT_TRUE(attempt_.ChiefLeftItsWorkers());
  EXPECT_THAT(attempt_.Awaited(), ElementsAre("rank 1"));
  attempt_.Exited(End(1, 0));
  EXPECT_THAT(attempt_.Awaited(), IsEmpty());
}

TEST_F(AttemptTest, WorkersWithoutServersTrain) {
  cluster_.members[0].task = "chief";
  cluster_.members[1].task = "worker";
  cluster_.members[2].task = "evaluator";
  attempt_.Exited(End(0, 0));
  EXPECT_FALSE(attempt_.ChiefLeftItsWorkers());
  EXPECT_THAT(attempt_.Awaited(), ElementsAre("rank 1"));
}

TEST_F(AttemptTest, AwaitsNobodyBecauseARankFailed) {
  attempt_.Exited(End(0, kKilled));
  EXPECT_THAT(attempt_.Awaited(), IsEmpty());
}

TEST_F(AttemptTest, KnowsWhichAgentRunsARank) {
  EXPECT_TRUE(attempt_.Runs(8, 2));
  EXPECT_FALSE(attempt_.Runs(7, 2));
  EXPECT_FALSE(attempt_.Runs(7, 99));
}

TEST_F(AttemptTest, KnowsWhoseProcessesMayBeLeft) {
  EXPECT_THAT(attempt_.Unstopped(), ElementsAre(7, 8));
  attempt_.Stopped(7, {.leftovers = 2});
  attempt_.Stopped(7, {.leftovers = 2});
  EXPECT_EQ(attempt_.leftovers(), 2);
  attempt_.Lost(8, Error(Cause::kPeerDied, "gone"), {});
  EXPECT_THAT(attempt_.Unstopped(), IsEmpty());
  EXPECT_EQ(attempt_.End().lost[0].ranks, (std::vector{1, 2}));
  EXPECT_EQ(attempt_.End().lost[0].host, "b");
}

TEST_F(AttemptTest, AnAgentThatIsLostAfterItsRanksLosesNothing) {
  attempt_.Exited(End(0, 0));
  EXPECT_FALSE(attempt_.Lost(7, Error(Cause::kPeerDied, "gone"), {}));
  EXPECT_THAT(attempt_.End().lost, IsEmpty());
}

TEST_F(AttemptTest, ReachesWhatTheFurthestRankReached) {
  attempt_.Exited(End(0, kExit3, 50));
  attempt_.Exited(End(1, kKilled, 51));
  EXPECT_EQ(attempt_.Reach().step, 51);
  EXPECT_EQ(attempt_.Reach().checkpoint, 5);
}

TEST_F(AttemptTest, TheVerdictsRootBecomesAFailure) {
  attempt_.Exited(End(1, kKilled, 51));
  const auto verdict = diagnose::Judge(attempt_.End());
  const auto failure = attempt_.RootOf(verdict);
  EXPECT_EQ(failure.kind, record::Failure::Kind::kSignal);
  EXPECT_EQ(failure.rank, 1);
  EXPECT_EQ(failure.status, 9);
  EXPECT_EQ(failure.step, 51);
  EXPECT_EQ(failure.cause, Cause::kPeerDied);
}

TEST_F(AttemptTest, AProgramThatIsNotThereWasNotStarted) {
  auto missing = End(0, 127 << 8);
  missing.could_not_start = true;
  attempt_.Exited(missing);
  const auto failure = attempt_.RootOf(diagnose::Judge(attempt_.End()));
  EXPECT_EQ(failure.kind, record::Failure::Kind::kNotStarted);
  EXPECT_EQ(failure.status, 127);
}

TEST_F(AttemptTest, AStandstillCarriesNamesAndTime) {
  const WallTime at{std::chrono::seconds(5)};
  attempt_.StandsStill({.ranks = {{.rank = 1, .state = 'T'}},
                        .culprits = 1,
                        .confidence = Confidence::kCertain,
                        .why = "rank 1 is stopped"},
                       at);
  const auto end = attempt_.End();
  EXPECT_EQ(end.stalls[0].name, "rank 1");
  EXPECT_EQ(end.stalls[0].at, at);
  const auto failure = attempt_.RootOf(diagnose::Judge(end));
  EXPECT_EQ(failure.kind, record::Failure::Kind::kStandstill);
  EXPECT_EQ(failure.cause, Cause::kNoProgress);
}

}  // namespace
}  // namespace muster::run
