// SPDX-License-Identifier: Apache-2.0
// Clock of tests; linked by them alone.
#pragma once

#include "sys/time/clock.h"

namespace muster::sys {

// For tests: stands still until told to move.
class FakeClock : public Clock {
 public:
  Steady Now() const override { return now; }
  WallTime WallNow() const override { return wall + set; }
  WallTime EventNow() const override { return wall; }
  Duration CpuNow() const override { return cpu += cpu_of_a_reading; }
  void Advance(Duration by) {
    now += std::chrono::duration_cast<std::chrono::steady_clock::duration>(by);
    wall += std::chrono::duration_cast<std::chrono::microseconds>(by);
  }

  Steady now{std::chrono::seconds(1000)};
  WallTime wall{std::chrono::seconds(1'800'000'000)};
  std::chrono::microseconds set{};  // since it began, by somebody
  mutable Duration cpu{};
  Duration cpu_of_a_reading{};  // by so much each reading moves it
};

}  // namespace muster::sys
