// SPDX-License-Identifier: Apache-2.0
#include "sys/signal/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace muster::sys {
namespace {

TEST(Interrupt, IsKeptAndEndsAPause) {
  const auto interrupt = Interrupt::Make("told\n");
  ASSERT_TRUE(interrupt);
  EXPECT_FALSE((*interrupt)->Came());
  EXPECT_TRUE((*interrupt)->Pause(std::chrono::milliseconds(1)));
  testing::internal::CaptureStderr();
  raise(SIGINT);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "told\n");
  EXPECT_TRUE((*interrupt)->Came());
  EXPECT_FALSE((*interrupt)->Pause(std::chrono::hours(1)));
}

TEST(InterruptDeathTest, TheSecondEndsTheProcess) {
  EXPECT_EXIT(
      {
        const auto interrupt = Interrupt::Make("");
        raise(SIGTERM);
        raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM), "");
}

TEST(Interrupt, GivesBackWhatWasThereBefore) {
  struct sigaction before {};
  signal(SIGHUP, SIG_IGN);
  { const auto interrupt = Interrupt::Make(""); }
  sigaction(SIGHUP, nullptr, &before);
  EXPECT_EQ(before.sa_handler, SIG_IGN);
  signal(SIGHUP, SIG_DFL);
}

}  // namespace
}  // namespace muster::sys
