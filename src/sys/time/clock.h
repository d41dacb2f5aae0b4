// SPDX-License-Identifier: Apache-2.0
// Time, as far as a decision depends on it.
#pragma once

#include <chrono>

#include "muster/deadline.h"
#include "muster/fact.h"

namespace muster::sys {

class Clock {
 public:
  using Steady = std::chrono::steady_clock::time_point;

  virtual ~Clock() = default;
  virtual Steady Now() const = 0;
  virtual WallTime WallNow() const = 0;
};

class RealClock : public Clock {
 public:
  Steady Now() const override;
  WallTime WallNow() const override;
};

// For tests: stands still until told to move.
class FakeClock : public Clock {
 public:
  Steady Now() const override { return now; }
  WallTime WallNow() const override { return wall; }
  void Advance(Duration by) {
    now += std::chrono::duration_cast<std::chrono::steady_clock::duration>(by);
    wall += std::chrono::duration_cast<std::chrono::microseconds>(by);
  }

  Steady now{std::chrono::seconds(1000)};
  WallTime wall{std::chrono::seconds(1'800'000'000)};
};

}  // namespace muster::sys
