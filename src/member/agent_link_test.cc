// SPDX-License-Identifier: Apache-2.0
#include "member/agent_link.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "sys/net/net.h"

namespace muster {
namespace {

TEST(AgentLink, TellsInTimeWhileAnotherThreadWaitsForTheAgent) {
  auto ends = sys::SocketPair().value();
  AgentLink link(std::move(ends.second));
  std::atomic<bool> over{false};
  std::jthread other([&] {
    EXPECT_FALSE(link.Tell(
        {.op = wire::RankOp::kFact, .value = std::string(4 << 20, ' ')},
        Deadline::After(std::chrono::seconds(20))));
    over = true;
  });
  // It has begun, and the agent takes no more of it.
  std::string some;
  ASSERT_TRUE(sys::ReceiveSome(ends.first.get(), some, nullptr,
                               Deadline::After(std::chrono::seconds(20))));
  const auto told = link.Tell({.op = wire::RankOp::kFact},
                              Deadline::After(std::chrono::milliseconds(20)));
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().cause(), Cause::kDeadlineExceeded);
  EXPECT_FALSE(over);
  ends.first.Close();
}

}  // namespace
}  // namespace muster
