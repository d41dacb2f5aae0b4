// SPDX-License-Identifier: Apache-2.0
#include "collective/futex_event.h"

#include "sys/memory.h"

namespace muster {

void Bell::Ring() const {
  if (board_.sleepers.load() != 0) {
    Wake();
  }
}

void Bell::Wake() const {
  board_.bell.fetch_add(1);
  sys::FutexWakeAll(board_.bell);
}

void Bell::SleepWhile(std::uint32_t seen, Deadline deadline) const {
  sys::FutexWait(board_.bell, seen, deadline);
}

}  // namespace muster
