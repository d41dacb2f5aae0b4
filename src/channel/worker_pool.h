// SPDX-License-Identifier: Apache-2.0
// Threads for calls that block: dialing, looking up names.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace muster::channel {

// At most `threads` threads, started as they are needed. Any thread may submit.
class WorkerPool {
 public:
  WorkerPool(std::size_t threads, std::size_t most_waiting);
  // Drops what waits; waits for what runs (so every task has a deadline).
  ~WorkerPool();

  // False when too many tasks wait: the task is not run.
  [[nodiscard]] bool Submit(std::function<void()> task);

 private:
  void Work();

  const std::size_t threads_;
  const std::size_t most_waiting_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> waiting_ MUSTER_GUARDED_BY(mutex_);
  std::size_t idle_ MUSTER_GUARDED_BY(mutex_) = 0;
  bool stopping_ MUSTER_GUARDED_BY(mutex_) = false;
  std::vector<std::jthread> workers_ MUSTER_GUARDED_BY(mutex_);
};

}  // namespace muster::channel
