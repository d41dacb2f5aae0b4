// SPDX-License-Identifier: Apache-2.0
// Sleeping until the progress page's event is signaled, across processes.
#pragma once

#include <cstdint>

#include "muster/deadline.h"
#include "wire/progress_page.h"

namespace muster {

// std::atomic::wait sleeps on process-private futexes; this does not. A sleeper
// counts itself before it looks at what it waits for, a ringer looks at the
// count after it has changed it: with sequentially consistent accesses one of
// the two sees the other. Any thread.
class FutexEvent {
 public:
  explicit FutexEvent(wire::ProgressPage& progress_page)
      : progress_page_(progress_page) {}

  // Wakes all sleepers, if there are any.
  void Ring() const;
  // Wakes without looking whether there are any.
  void Wake() const;

  // Sleeps until the event is signaled or the deadline passes, unless `ready`
  // is true beforehand. May also return early.
  template <typename Ready>
  void Sleep(Deadline deadline, const Ready& ready) const {
    progress_page_.sleepers.fetch_add(1);
    const std::uint32_t seen = progress_page_.event.load();
    if (!ready()) {
      SleepWhile(seen, deadline);
    }
    progress_page_.sleepers.fetch_sub(1);
  }

 private:
  void SleepWhile(std::uint32_t seen, Deadline deadline) const;
  wire::ProgressPage& progress_page_;
};

}  // namespace muster
