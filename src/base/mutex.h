// SPDX-License-Identifier: Apache-2.0
// An annotated mutex: clang finds a missing lock at compile time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define MUSTER_ATTRIBUTE(x) __attribute__((x))
#else
#define MUSTER_ATTRIBUTE(x)
#endif
#define MUSTER_GUARDED_BY(m) MUSTER_ATTRIBUTE(guarded_by(m))
#define MUSTER_REQUIRES(m) MUSTER_ATTRIBUTE(requires_capability(m))
#define MUSTER_EXCLUDES(m) MUSTER_ATTRIBUTE(locks_excluded(m))

namespace muster {

class MUSTER_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void Lock() MUSTER_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void Unlock() MUSTER_ATTRIBUTE(release_capability()) { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class MUSTER_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) MUSTER_ATTRIBUTE(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() MUSTER_ATTRIBUTE(release_capability()) { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits only with a deadline. Call in a loop that tests the condition.
class CondVar {
 public:
  // False when the deadline passed.
  bool WaitUntil(Mutex& mutex, std::chrono::steady_clock::time_point deadline)
      MUSTER_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    bool in_time =
        condition_.wait_until(lock, deadline) == std::cv_status::no_timeout;
    lock.release();
    return in_time;
  }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace muster
