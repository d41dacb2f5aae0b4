// SPDX-License-Identifier: Apache-2.0
// The rule root against victims: how the ranks of one attempt ended goes in,
// findings come out, the root first. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "finding/finding.h"
#include "muster/deadline.h"
#include "muster/fact.h"
#include "wire/progress_page.h"

namespace muster::diagnose {

// Facts in RankEnd::facts (fields: kills, max_rss_bytes). The first: the kernel
// killed this rank for memory. The second: it killed something in the rank's
// cgroup, which may be a process of this rank or of another one.
inline constexpr std::string_view kOomFact = "oom.kill";
// The guardian, parent of the ranks of a host, was killed, and they with it.
inline constexpr std::string_view kGuardianFact = "guardian.lost";
inline constexpr std::string_view kOomCounterFact = "oom.counter";

// How one rank of the attempt ended.
struct RankEnd {
  int rank = 0;
  std::string name;              // "rank 1 (10.0.0.7:8476)"; empty: "rank 1"
  bool could_not_start = false;  // then wait_status is 126 or 127 as a status
  int wait_status = 0;           // of waitpid(2)
  int sent_signal = 0;  // the last signal that we sent before it; 0: none
  WallTime at{};
  std::string error_cause;  // label told by the rank (kFailed); empty: none
  std::string error_message;
  std::vector<Fact> facts;  // evidence: oom counter, spawn.failed…
  std::vector<std::string> last_lines;  // of stderr, oldest first
  wire::Phase phase = wire::Phase::kUnknown;
  std::uint64_t step = 0;
};

// An agent whose link was lost, with the ranks that it started.
struct AgentLoss {
  std::vector<int> ranks;
  std::string host;                // "10.0.0.7:41234"
  Cause cause = Cause::kPeerDied;  // or kHeartbeatMissed, as Link::OnLost told
  std::string message;
  WallTime at{};
};

// What the watchdog says of a rank that made no progress.
struct Stall {
  int rank = 0;
  std::string name;  // as in RankEnd
  wire::Phase phase = wire::Phase::kUnknown;
  std::uint64_t step = 0;
  char state = '?';  // of /proc/PID/stat; T: stopped by a signal
  std::string wait_channel;
  Duration idle{};   // since the last sign of progress
  Duration limit{};  // of this phase
  WallTime at{};
};

// One attempt that did not end well.
struct AttemptEnd {
  int world_size = 1;
  std::vector<RankEnd> ends;  // of ranks that ended; those with status 0 too
  std::vector<AgentLoss> lost;
  // Ranks that the watchdog found beyond their limits, those to blame first;
  // so many of them are to blame (0: all), how sure that is, and why.
  std::vector<Stall> stalls;
  std::size_t culprits = 0;
  Confidence stall_confidence = Confidence::kCertain;
  std::string stall_reason;  // "rank 1 is stopped, the others wait for it"
  // Label written on the boards when the attempt was stopped; empty: it was
  // not. A rank that tells this cause after we stopped it is an echo.
  std::string stop_cause;
};

// Which kind of end decided.
enum class RootKind {
  kNone,       // nothing failed
  kProgram,    // it ended by itself with an exit status
  kSignal,     // a signal that we did not send
  kUnmanaged,  // its host or agent went away
  kStall,      // alive without progress
};

struct Verdict {
  RootKind kind = RootKind::kNone;
  int rank = -1;           // the first failing rank; -1 with kNone
  int wait_status = 0;     // its own, for kProgram and kSignal
  std::uint64_t step = 0;  // where it was; 0: it told none
  bool cascade = false;    // all only lost each other: nobody was seen to begin
  bool late = false;       // it had been asked to end
  // Root first, victims inside of it; further findings are failures of their
  // own. Empty with kNone.
  std::vector<Finding> findings;
};

// Orders by evidence first: an own death (memory, signal, told cause) is never
// the consequence of an error that only says that a peer is gone, whatever the
// order in which the exits were seen; a signal that we sent is never a root.
Verdict Judge(const AttemptEnd& attempt);

}  // namespace muster::diagnose
