// SPDX-License-Identifier: Apache-2.0
#include "channel/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

namespace muster::channel {
namespace {

TEST(WorkerPool, RunsTasksAtOnceUpToItsNumberOfThreads) {
  // Three tasks and this thread; outlives the pool, whose threads still look
  // at it when this one has been let through.
  std::latch together(4);
  WorkerPool pool(3, 100);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(pool.Submit([&] { together.arrive_and_wait(); }));
  }
  together.arrive_and_wait();
}

TEST(WorkerPool, RefusesMoreThanMayWait) {
  std::latch begun(1);
  std::latch go_on(1);
  WorkerPool pool(1, 2);
  ASSERT_TRUE(pool.Submit([&] {
    begun.count_down();
    go_on.wait();
  }));
  begun.wait();
  EXPECT_TRUE(pool.Submit([] {}));
  EXPECT_TRUE(pool.Submit([] {}));
  EXPECT_FALSE(pool.Submit([] {}));
  go_on.count_down();
}

TEST(WorkerPool, WaitsForWhatRunsAndDropsTheRest) {
  std::atomic<int> ran{0};
  {
    std::latch begun(1);
    WorkerPool pool(1, 100);
    ASSERT_TRUE(pool.Submit([&] {
      begun.count_down();
      ++ran;
    }));
    begun.wait();
  }
  EXPECT_EQ(ran, 1);
}

}  // namespace
}  // namespace muster::channel
