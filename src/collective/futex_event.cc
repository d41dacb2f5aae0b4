// SPDX-License-Identifier: Apache-2.0
#include "collective/futex_event.h"

#include "sys/memory.h"

namespace muster {

void FutexEvent::Ring() const {
  if (progress_page_.sleepers.load() != 0) {
    Wake();
  }
}

void FutexEvent::Wake() const {
  progress_page_.event.fetch_add(1);
  sys::FutexWakeAll(progress_page_.event);
}

void FutexEvent::SleepWhile(std::uint32_t seen, Deadline deadline) const {
  sys::FutexWait(progress_page_.event, seen, deadline);
}

}  // namespace muster
