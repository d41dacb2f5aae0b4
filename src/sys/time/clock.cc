// SPDX-License-Identifier: Apache-2.0
#include "sys/time/clock.h"

namespace muster::sys {

Clock::Steady RealClock::Now() const {
  return std::chrono::steady_clock::now();
}

WallTime RealClock::WallNow() const {
  return std::chrono::time_point_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now());
}

}  // namespace muster::sys
