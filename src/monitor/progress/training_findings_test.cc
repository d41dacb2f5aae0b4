// SPDX-License-Identifier: Apache-2.0
#include "monitor/progress/training_findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/testing.h"

namespace muster::monitor {
namespace {

using record::kFlatLoss;
using record::testing::Story;
using record::testing::Trained;
using record::testing::Undisturbed;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(JudgeTraining, FindsNothingWrongWithAHealthyOne) {
  EXPECT_THAT(JudgeTraining(Undisturbed().facts()), IsEmpty());
}

TEST(JudgeTraining, NamesBothRatesOfAStarvedRank) {
  auto starved = Trained(200, 200);
  starved.input_wait_sum_ns = starved.step_sum_ns / 2;
  const auto story =
      Story().Begins().Launches().Exits(0, Trained(200, 200)).Exits(1, starved);
  const auto findings = JudgeTraining(story.facts());
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].cause, Cause::kInputStarved);
  EXPECT_EQ(findings[0].what,
            "rank 1 waits for input for 50 % of its step time (limit 30 %): "
            "100 steps/s, or 200 steps/s");
}

TEST(JudgeTraining, DoesNotJudgeTheFirstSteps) {
  auto starved = Trained(19, 19);
  starved.input_wait_sum_ns = starved.step_sum_ns / 2;
  EXPECT_THAT(
      JudgeTraining(Story().Begins().Launches().Exits(0, starved).facts()),
      IsEmpty());
}

TEST(JudgeTraining, SuspectsAPlateau) {
  auto still = Trained(500, 500);
  still.unchanged_steps = 200;
  auto findings =
      JudgeTraining(Story().Begins().Launches().Exits(0, still).facts());
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].cause, Cause::kTrainingPlateau);
  EXPECT_EQ(findings[0].confidence, Confidence::kPossible);

  const auto flat = Story()
                        .Begins()
                        .Launches()
                        .Exits(0, Trained(500, 500))
                        .Tell(kFlatLoss)
                        .With("since_step", std::int64_t{250})
                        .With("step", std::int64_t{500})
                        .With("loss", 2.303)
                        .With("classes", std::int64_t{10});
  findings = JudgeTraining(flat.facts());
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].what,
            "the loss has been 2.303 for 250 steps: the value of random "
            "guessing among 10 classes");
}

}  // namespace
}  // namespace muster::monitor
