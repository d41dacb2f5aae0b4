// SPDX-License-Identifier: Apache-2.0
#include "cloud/tpu/tpu_removal.h"

#include <gtest/gtest.h>

#include "cloud/api/sender.h"
#include "cloud/testing.h"

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

TEST(RemoveAll, WaitsOutALimitOnRequests) {
  FakeCloud cloud;
  cloud.env.variables = {{"XDG_STATE_HOME", "/state"},
                         {"CLOUDSDK_AUTH_ACCESS_TOKEN", "t"}};
  auto credentials = Credentials::Find(cloud.host);
  ASSERT_TRUE(credentials);
  TpuApi api(cloud.host, *std::move(credentials), {"p", "test"},
             cloud.Patient());
  auto journal = TpuJournal::Open(cloud.host);
  ASSERT_TRUE(journal);
  for (int i = 0; i < 40; ++i) {
    cloud.http.Answer(429,
                      R"({"error":{"details":[{"@type":"google.rpc.ErrorInfo",)"
                      R"("reason":"RATE_LIMIT_EXCEEDED"}]}})");
  }
  cloud.http.Answer(404, R"({"error":{"status":"NOT_FOUND"}})");
  Waiting waiting = With(nullptr);
  waiting.pause = [](Duration) { return true; };
  const auto removed = RemoveAll(
      {TpuRemoval(api, *journal, {.kind = "node", .zone = "z", .name = "t"})},
      api, waiting);
  EXPECT_FALSE(removed.front().error) << removed.front().error->ToString();
}

}  // namespace
}  // namespace muster::cloud
