// SPDX-License-Identifier: Apache-2.0
// A point in time at which a wait ends. Every wait takes one.
#pragma once

#include <algorithm>
#include <chrono>

namespace muster {

// A span of time, to the nanosecond.
using Duration = std::chrono::nanoseconds;

// An absolute point on the steady clock. A value; any thread.
class Deadline {
 public:
  // The clock of all deadlines.
  using Clock = std::chrono::steady_clock;

  // From now on.
  static Deadline After(Duration duration) {
    return Deadline(Clock::now() + duration);
  }
  // At this time.
  static Deadline At(Clock::time_point when) { return Deadline(when); }

  // The time.
  Clock::time_point when() const { return when_; }
  // Whether it has passed.
  bool Expired() const { return Clock::now() >= when_; }

  // Time that is left; never negative.
  Duration Remaining() const {
    return std::max(Duration::zero(),
                    std::chrono::duration_cast<Duration>(when_ - Clock::now()));
  }

  // For poll(2): milliseconds, rounded up to avoid spinning.
  int PollTimeout() const {
    auto ms = std::chrono::ceil<std::chrono::milliseconds>(Remaining()).count();
    return static_cast<int>(std::min<long long>(ms, 1'000'000'000));
  }

  // The earlier one of both.
  Deadline Sooner(Deadline other) const {
    return Deadline(std::min(when_, other.when_));
  }

 private:
  explicit Deadline(Clock::time_point when) : when_(when) {}
  Clock::time_point when_;
};

}  // namespace muster
