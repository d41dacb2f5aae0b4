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
  // How much of processors this process has used so far.
  virtual Duration CpuNow() const = 0;
};

class RealClock : public Clock {
 public:
  Steady Now() const override;
  WallTime WallNow() const override;
  Duration CpuNow() const override;
};

}  // namespace muster::sys
