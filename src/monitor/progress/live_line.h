// SPDX-License-Identifier: Apache-2.0
// The line that says how the run goes while it goes.
#pragma once

#include <optional>
#include <string>

#include "monitor/progress/training.h"
#include "sys/time/clock.h"

namespace muster::monitor {

// What the line is about beside the training.
struct LiveFacts {
  int running = 0;  // ranks
  int attempt = 1;
  Duration elapsed{};
};

// "step 1200  412 steps/s  loss 0.4312  input wait 2 %  2 ranks  12.3 s".
std::string LiveText(const TrainingView& view, const LiveFacts& facts);

// Says when the next line is due: at most ten a second where it is replaced in
// place, one per 30 s where every line stays. Not thread-safe.
class LivePace {
 public:
  LivePace(bool in_place, sys::Clock::Steady started)
      : period_(in_place ? Duration(std::chrono::milliseconds(100))
                         : Duration(std::chrono::seconds(30))),
        last_(started) {}
  // True at most once per period.
  bool Due(sys::Clock::Steady now);

 private:
  Duration period_;
  sys::Clock::Steady last_;
};

}  // namespace muster::monitor
