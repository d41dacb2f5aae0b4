// SPDX-License-Identifier: Apache-2.0
#include "channel/worker_pool.h"

#include <utility>

namespace muster::channel {

WorkerPool::WorkerPool(std::size_t threads, std::size_t most_waiting)
    : threads_(threads), most_waiting_(most_waiting) {}

WorkerPool::~WorkerPool() {
  std::vector<std::jthread> workers;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    waiting_.clear();
    workers.swap(workers_);
  }
  changed_.NotifyAll();
}

bool WorkerPool::Submit(std::function<void()> task) {
  {
    MutexLock lock(mutex_);
    if (stopping_ || waiting_.size() >= most_waiting_) {
      return false;
    }
    waiting_.push_back(std::move(task));
    if (waiting_.size() > idle_ && workers_.size() < threads_) {
      workers_.emplace_back([this] { Work(); });
    }
  }
  changed_.NotifyAll();
  return true;
}

void WorkerPool::Work() {
  while (true) {
    std::function<void()> task;
    {
      MutexLock lock(mutex_);
      ++idle_;
      while (waiting_.empty() && !stopping_) {
        // Woken by Submit and the end; the hour only bounds the wait.
        changed_.WaitUntil(
            mutex_, std::chrono::steady_clock::now() + std::chrono::hours(1));
      }
      --idle_;
      if (stopping_) {
        return;
      }
      task = std::move(waiting_.front());
      waiting_.pop_front();
    }
    task();
  }
}

}  // namespace muster::channel
