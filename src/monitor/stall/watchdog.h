// SPDX-License-Identifier: Apache-2.0
// The watchdog: finds ranks that live and make no progress.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/verdict/verdict.h"
#include "finding/finding.h"
#include "muster/deadline.h"
#include "wire/agent_messages.h"

namespace muster::monitor {

// How long each phase may go on without a sign of progress; nullopt: as long as
// it likes.
struct WatchLimits {
  std::optional<Duration> start = std::chrono::seconds(600);
  std::optional<Duration> evaluate = std::chrono::seconds(600);
  std::optional<Duration> checkpoint = std::chrono::seconds(600);
  // Steps: at least the floor, and the factor times the largest normal gap.
  bool steps = true;
  Duration step_floor = std::chrono::seconds(10);
  int step_factor = 5;
  bool asked = false;  // by the user, who wants to know when nothing is watched
};

// Who stands still, and who of them is to blame.
struct Standstill {
  // Every rank beyond its limit, those to blame first. Names are left empty.
  std::vector<diagnose::Stall> ranks;
  std::size_t culprits = 0;  // how many of them are to blame
  Confidence confidence = Confidence::kPossible;
  std::string why;  // "rank 1 is stopped", "rank 1 is at step 7, others at 9"
};

// One per run, fed with what agents sample. Has no clock: idle time is counted
// in the agents' own samples, a gap between two of which counts as one second
// at most. So neither a suspended host nor a starved agent can make a rank look
// idle, and clocks of hosts are never compared. Not thread-safe.
class Watchdog {
 public:
  explicit Watchdog(WatchLimits limits) : limits_(limits) {}

  // A new attempt: forgets its ranks, keeps what is normal for this program.
  void Begin() { ranks_.clear(); }
  void Observe(const wire::Progress& progress);
  void Ended(int rank) { ranks_.erase(rank); }

  // nullopt: all is well, or the programs report nothing.
  std::optional<Standstill> Check() const;

  // Ranks that a signal has stopped for 3 s, each once, whatever they report.
  std::vector<int> TakeStopped();

  // Somebody has asked for a limit, and for ten seconds no rank has told of a
  // phase or step: a standstill would not be seen.
  bool IsBlind() const;

  // The limit for the phase now; nullopt: none.
  std::optional<Duration> Limit(wire::Phase phase) const;

 private:
  struct Watched {
    wire::RankSample sample;
    std::int64_t seen_ns = 0;
    Duration idle{};
    Duration stopped{};  // in state T, without a pause
    bool stop_reported = false;
  };

  std::optional<Duration> LimitOf(const Watched& watched) const;
  bool Stuck(const Watched& watched) const;
  diagnose::Stall StallOf(const Watched& watched) const;

  WatchLimits limits_;
  Duration largest_step_{};
  std::map<int, Watched> ranks_;
};

}  // namespace muster::monitor
