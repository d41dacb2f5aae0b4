// SPDX-License-Identifier: Apache-2.0
// Sleeping until the board's bell rings, across processes.
#pragma once

#include <cstdint>

#include "muster/deadline.h"
#include "wire/progress_page.h"

namespace muster {

// std::atomic::wait sleeps on process-private futexes; this does not. A sleeper
// counts itself before it looks at what it waits for, a ringer looks at the
// count after it has changed it: with sequentially consistent accesses one of
// the two sees the other. Any thread.
class Bell {
 public:
  explicit Bell(wire::Board& board) : board_(board) {}

  // Wakes all sleepers, if there are any.
  void Ring() const;
  // Wakes without looking whether there are any.
  void Wake() const;

  // Sleeps until the bell rings or the deadline passes, unless `ready` is true
  // beforehand. May also return early.
  template <typename Ready>
  void Sleep(Deadline deadline, const Ready& ready) const {
    board_.sleepers.fetch_add(1);
    const std::uint32_t seen = board_.bell.load();
    if (!ready()) {
      SleepWhile(seen, deadline);
    }
    board_.sleepers.fetch_sub(1);
  }

 private:
  void SleepWhile(std::uint32_t seen, Deadline deadline) const;
  wire::Board& board_;
};

}  // namespace muster
