// SPDX-License-Identifier: Apache-2.0
#include "monitor/progress/progress_log.h"

#include <gtest/gtest.h>

#include <cmath>

#include "record/events.h"

namespace muster::monitor {
namespace {

class ProgressLogTest : public testing::Test {
 protected:
  ProgressLogTest()
      : journal_(std::move(record::Journal::Open(host_, "runs", "id")).value()),
        log_(host_, *journal_, 2) {
    log_.Begin(1);
  }

  void Sample(std::uint64_t step, double loss, std::uint64_t first_ns = 0) {
    wire::Progress progress{.now_ns = 10'000'000'000};
    for (const int rank : {0, 1}) {
      progress.ranks.push_back({.rank = rank,
                                .progress = {.phase = wire::Phase::kStep,
                                             .classes = 10,
                                             .first_step_ns = first_ns,
                                             .step = step,
                                             .steps = step,
                                             .loss = loss}});
    }
    log_.Observe(progress);
    clock_.Advance(std::chrono::milliseconds(500));
  }
  const Fact* Find(std::string_view name) {
    for (const Fact& fact : journal_->facts()) {
      if (fact.name == name) {
        return &fact;
      }
    }
    return nullptr;
  }
  std::size_t EventBytes() {
    for (const auto& [path, bytes] : fs_.files) {
      if (path.find("metrics/events.out.tfevents") != std::string::npos) {
        return bytes.size();
      }
    }
    return 0;
  }

  sys::FakeEnv env_;
  sys::FakeClock clock_;
  sys::FakeFs fs_;
  sys::Host host_{env_, clock_, fs_};
  std::unique_ptr<record::Journal> journal_;
  ProgressLog log_;
};

TEST_F(ProgressLogTest, TellsWhenAllRanksHaveDoneTheirFirstStep) {
  Sample(0, 0);
  EXPECT_EQ(Find(record::kFirstStep), nullptr);
  const auto wall = clock_.wall;
  Sample(3, 1, 9'000'000'000);
  const Fact* fact = Find(record::kFirstStep);
  ASSERT_NE(fact, nullptr);
  EXPECT_EQ(fact->at, wall - std::chrono::seconds(1));
}

TEST_F(ProgressLogTest, WritesNoScalarsBeforeTheFirstStepOfAnAttempt) {
  wire::Progress progress{.now_ns = 10'000'000'000};
  progress.ranks.push_back(
      {.rank = 0,
       .progress = {
           .phase = wire::Phase::kStart, .step = 100, .resumed_step = 100}});
  log_.Observe(progress);
  log_.End();
  EXPECT_EQ(EventBytes(), 0);
}

TEST_F(ProgressLogTest, WritesScalarsOnceASecondAndAtTheEnd) {
  EXPECT_EQ(EventBytes(), 0);
  Sample(10, 1);
  const auto first = EventBytes();
  EXPECT_GT(first, 0);
  Sample(20, 1);
  EXPECT_EQ(EventBytes(), first);
  Sample(30, 1);
  const auto second = EventBytes();
  EXPECT_GT(second, first);
  Sample(35, 1);
  log_.End();
  EXPECT_GT(EventBytes(), second);
}

TEST_F(ProgressLogTest, TellsALossThatStayedAtChance) {
  Sample(1, std::log(10));
  Sample(400, std::log(10));
  log_.End();
  const Fact* fact = Find(record::kFlatLoss);
  ASSERT_NE(fact, nullptr);
  EXPECT_EQ(fact->Number("since_step"), 1);
  EXPECT_EQ(fact->Number("step"), 400);
  EXPECT_EQ(fact->Number("classes"), 10);
}

TEST_F(ProgressLogTest, WritesNoFileForAProgramThatReportsNothing) {
  log_.Observe({.ranks = {{.rank = 0}}});
  log_.End();
  EXPECT_EQ(EventBytes(), 0);
}

TEST_F(ProgressLogTest, TellsAFailureToWriteOnce) {
  fs_.fail["runs/id/metrics"] = Cause::kDiskFull;
  Sample(10, 1);
  const auto failure = log_.TakeFailure();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->cause(), Cause::kDiskFull);
  Sample(20, 1);
  Sample(30, 1);
  EXPECT_FALSE(log_.TakeFailure());
}

}  // namespace
}  // namespace muster::monitor
