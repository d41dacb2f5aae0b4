// SPDX-License-Identifier: Apache-2.0
#include "sys/time/clock.h"

#include <ctime>

namespace muster::sys {

Clock::Steady RealClock::Now() const {
  return std::chrono::steady_clock::now();
}

WallTime RealClock::WallNow() const {
  return std::chrono::time_point_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now());
}

WallTime RealClock::EventNow() const {
  // Of the process that forked this one, if that has asked before.
  static const auto began =
      WallNow().time_since_epoch() -
      std::chrono::duration_cast<std::chrono::microseconds>(
          Now().time_since_epoch());
  return WallTime(began + std::chrono::duration_cast<std::chrono::microseconds>(
                              Now().time_since_epoch()));
}

Duration RealClock::CpuNow() const {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) +
         std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace muster::sys
