// SPDX-License-Identifier: Apache-2.0
#include "sys/process/sched_slice.h"

#include <gtest/gtest.h>

#include <thread>

namespace muster::sys {
namespace {

TEST(ShortSlices, AreForTheThreadsStartedMeanwhile) {
  const auto before = OwnSlice();
  std::chrono::nanoseconds theirs{};
  {
    const ShortSlices slices;
    std::thread([&] { theirs = OwnSlice(); }).join();
  }
  EXPECT_EQ(OwnSlice(), before);
  if (theirs.count() == 0) {
    GTEST_SKIP() << "this kernel does not tell a thread its slice (Linux 6.12)";
  }
  EXPECT_LT(theirs, before);
}

}  // namespace
}  // namespace muster::sys
