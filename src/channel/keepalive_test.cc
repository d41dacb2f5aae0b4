// SPDX-License-Identifier: Apache-2.0
#include "channel/keepalive.h"
#include "sys/fake/fake_clock.h"

#include <gtest/gtest.h>

namespace muster::channel {
namespace {

// Ticks every beat for a time; true when one of them says lost.
bool TickFor(Keepalive& keepalive, sys::FakeClock& clock, Duration time) {
  bool lost = false;
  for (Duration passed{}; passed < time; passed += kBeat) {
    clock.Advance(kBeat);
    lost = keepalive.Tick(clock.Now()) || lost;
  }
  return lost;
}

TEST(Keepalive, IsLostAfterThreeSecondsOfSilence) {
  sys::FakeClock clock;
  Keepalive keepalive(clock.Now());
  EXPECT_FALSE(TickFor(keepalive, clock, kSilence - kBeat));
  EXPECT_TRUE(TickFor(keepalive, clock, kBeat));
}

TEST(Keepalive, LivesOnWhateverIsHeard) {
  sys::FakeClock clock;
  Keepalive keepalive(clock.Now());
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(TickFor(keepalive, clock, kSilence - kBeat));
    keepalive.Heard(clock.Now());
  }
}

TEST(Keepalive, DoesNotBlameTheOtherSideForAPauseOfOurOwn) {
  sys::FakeClock clock;
  Keepalive keepalive(clock.Now());
  clock.Advance(std::chrono::minutes(5));
  EXPECT_FALSE(keepalive.Tick(clock.Now()));
  EXPECT_TRUE(TickFor(keepalive, clock, kSilence));
}

}  // namespace
}  // namespace muster::channel
