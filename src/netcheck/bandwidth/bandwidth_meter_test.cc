// SPDX-License-Identifier: Apache-2.0
#include "netcheck/bandwidth/bandwidth_meter.h"

#include <gtest/gtest.h>

namespace muster::netcheck {
namespace {

using std::chrono::milliseconds;

// A megabyte every 10 ms, from the first to the last of these times.
void Carry(StreamCounter& counter, milliseconds first, milliseconds last) {
  for (milliseconds at = first; at <= last; at += milliseconds(10)) {
    counter.Count(sys::Clock::Steady(at), 1'000'000);
  }
}

TEST(StreamCounter, LeavesTheFirstFifthOut) {
  StreamCounter counter;
  Carry(counter, milliseconds(0), milliseconds(100));
  const ByteStream stream =
      counter.Steady(sys::Clock::Steady(milliseconds(100)));
  EXPECT_EQ(stream.bytes, 8'000'000U);
  EXPECT_EQ(stream.took, milliseconds(80));
}

TEST(StreamCounter, AStopInTheMiddleCounts) {
  StreamCounter counter;
  Carry(counter, milliseconds(0), milliseconds(30));
  Carry(counter, milliseconds(480), milliseconds(500));
  const ByteStream stream =
      counter.Steady(sys::Clock::Steady(milliseconds(500)));
  EXPECT_EQ(stream.took, milliseconds(400));
  EXPECT_EQ(stream.bytes, 3'000'000U);
}

TEST(StreamCounter, AStopAtTheEndCounts) {
  StreamCounter counter;
  Carry(counter, milliseconds(0), milliseconds(100));
  const ByteStream stream =
      counter.Steady(sys::Clock::Steady(milliseconds(1000)));
  EXPECT_EQ(stream.took, milliseconds(800));
  EXPECT_EQ(stream.bytes, 0U);
}

TEST(StreamCounter, OfLittleAllCounts) {
  StreamCounter counter;
  Carry(counter, milliseconds(0), milliseconds(10));
  const ByteStream stream =
      counter.Steady(sys::Clock::Steady(milliseconds(20)));
  EXPECT_EQ(stream.bytes, 2'000'000U);
  EXPECT_EQ(stream.took, milliseconds(20));
  EXPECT_EQ(StreamCounter().Steady({}).bytes, 0U);
}

}  // namespace
}  // namespace muster::netcheck
