// SPDX-License-Identifier: Apache-2.0
// The time slice that the kernel's fair scheduler grants to threads.
#pragma once

#include <chrono>
#include <cstdint>

namespace muster::sys {

// Asks for short slices for the threads that this thread starts while it
// lives: those that move bytes for one that computes. Since Linux 6.6 a thread
// that wakes up waits until the running one has used its slice, 3 ms as a
// rule; since 6.12 one that asked for a shorter slice goes first (PREEMPT_SHORT
// in the kernel's scheduler, sched_runtime in sched_setattr(2)). Needs no
// right; an older kernel takes no notice. Ends on the thread that began it.
class ShortSlices {
 public:
  ShortSlices();
  ~ShortSlices();
  ShortSlices(const ShortSlices&) = delete;
  ShortSlices& operator=(const ShortSlices&) = delete;

 private:
  std::chrono::nanoseconds before_;
};

// The slice of the calling thread; 0: the kernel does not tell.
std::chrono::nanoseconds OwnSlice();

}  // namespace muster::sys
