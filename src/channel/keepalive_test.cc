// SPDX-License-Identifier: Apache-2.0
#include "channel/keepalive.h"

#include <gtest/gtest.h>

namespace muster::channel {
namespace {

// Ticks every beat for a time; true when one of them says lost.
bool TickFor(Pulse& pulse, sys::FakeClock& clock, Duration time) {
  bool lost = false;
  for (Duration passed{}; passed < time; passed += kBeat) {
    clock.Advance(kBeat);
    lost = pulse.Tick(clock.Now()) || lost;
  }
  return lost;
}

TEST(Pulse, IsLostAfterThreeSecondsOfSilence) {
  sys::FakeClock clock;
  Pulse pulse(clock.Now());
  EXPECT_FALSE(TickFor(pulse, clock, kSilence - kBeat));
  EXPECT_TRUE(TickFor(pulse, clock, kBeat));
}

TEST(Pulse, LivesOnWhateverIsHeard) {
  sys::FakeClock clock;
  Pulse pulse(clock.Now());
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(TickFor(pulse, clock, kSilence - kBeat));
    pulse.Heard(clock.Now());
  }
}

TEST(Pulse, DoesNotBlameTheOtherSideForAPauseOfOurOwn) {
  sys::FakeClock clock;
  Pulse pulse(clock.Now());
  clock.Advance(std::chrono::minutes(5));
  EXPECT_FALSE(pulse.Tick(clock.Now()));
  EXPECT_TRUE(TickFor(pulse, clock, kSilence));
}

}  // namespace
}  // namespace muster::channel
