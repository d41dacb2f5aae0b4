// SPDX-License-Identifier: Apache-2.0
#include "cloud/tpu_removal.h"

#include <gtest/gtest.h>

#include "cloud/sender.h"

namespace muster::cloud {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Waiting With(std::function<double()> dice) {
  return {.deadline = Deadline::After(seconds(60)),
          .poll = seconds(2),
          .dice = std::move(dice)};
}

TEST(PollPause, GrowsFivefoldAndNoFurther) {
  const Waiting waiting = With(nullptr);
  EXPECT_EQ(PollPause(waiting, 0), seconds(2));
  EXPECT_EQ(PollPause(waiting, 4), seconds(4));
  EXPECT_EQ(PollPause(waiting, 16), seconds(10));
  EXPECT_EQ(PollPause(waiting, 1000), seconds(10));
}

TEST(PollPause, IsAQuarterMoreOrLessByTheDice) {
  for (const auto& [dice, pause] :
       {std::pair{0.0, milliseconds(1500)}, std::pair{1.0, milliseconds(2500)},
        std::pair{0.5, milliseconds(2000)}}) {
    const Waiting waiting = With([dice = dice] { return dice; });
    EXPECT_EQ(PollPause(waiting, 0), pause) << dice;
  }
}

TEST(PollPause, DiceOfTheProgramDifferAndStayWithinBounds) {
  const Waiting waiting = With(Dice);
  bool differ = false;
  for (int i = 0; i < 100; ++i) {
    const Duration pause = PollPause(waiting, 0);
    EXPECT_GE(pause, milliseconds(1500));
    EXPECT_LE(pause, milliseconds(2500));
    differ = differ || pause != seconds(2);
  }
  EXPECT_TRUE(differ);
}

}  // namespace
}  // namespace muster::cloud
