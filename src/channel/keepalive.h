// SPDX-License-Identifier: Apache-2.0
// When a link that carries nothing is lost: the rule, without time or sockets.
#pragma once

#include "muster/deadline.h"
#include "sys/time/clock.h"

namespace muster::channel {

inline constexpr Duration kBeat = std::chrono::milliseconds(500);
inline constexpr Duration kSilence = std::chrono::seconds(3);

// One per link; Tick is called every kBeat, Heard for whatever arrives.
class Pulse {
 public:
  using Steady = sys::Clock::Steady;

  explicit Pulse(Steady now) : heard_(now), ticked_(now) {}

  void Heard(Steady now) { heard_ = now; }

  // True when the other side has been silent for kSilence. A tick that comes
  // late says that we stood still ourselves (stopped, suspended, no processor):
  // what arrived meanwhile is not handled yet, so the silence counts anew.
  bool Tick(Steady now) {
    if (now - ticked_ > 2 * kBeat) {
      heard_ = now;
    }
    ticked_ = now;
    return now - heard_ >= kSilence;
  }

 private:
  Steady heard_;
  Steady ticked_;
};

}  // namespace muster::channel
