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
  // What the clock of this host shows: to be compared with other clocks.
  virtual WallTime WallNow() const = 0;
  // The time of an event: what the clock showed when this process began, and
  // how long ago that is. So the difference of two is a duration, also where
  // the host's clock has been set in between.
  virtual WallTime EventNow() const = 0;
  // How much of processors this process has used so far.
  virtual Duration CpuNow() const = 0;
};

class RealClock : public Clock {
 public:
  Steady Now() const override;
  WallTime WallNow() const override;
  WallTime EventNow() const override;
  Duration CpuNow() const override;
};

}  // namespace muster::sys
