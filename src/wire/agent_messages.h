// SPDX-License-Identifier: Apache-2.0
// What the coordinator and the agents tell each other over a Link: one struct a
// kind, each with its JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "muster/cluster.h"
#include "muster/error.h"
#include "wire/progress_page.h"

namespace muster::wire {

// How one rank is started: executed by its agent as written.
struct RankPlan {
  int rank = 0;
  int local_rank = 0;  // also its slot on the host's board
  int local_size = 1;
  std::vector<std::string> argv;
  // Changes to the agent's own environment; the source says why each is set.
  std::map<std::string, Sourced<std::string>> environment;
  std::vector<std::string> unset;
  // Numbers from the core_ids of its Hello; empty: not bound.
  std::vector<int> cores;
  std::string directory;
  std::string name;        // "rank 1 (worker 1)"
  std::string registered;  // JSON the rank gets with kRegistered
};

// coordinator -> agent, kind "launch": the whole attempt, made once by the
// coordinator. Agents take their own ranks from it and never recompute.
struct LaunchPlan {
  std::string run_id;
  int attempt = 1;
  int world_size = 1;
  std::vector<std::vector<int>> agents;  // ranks by agent
  std::vector<RankPlan> ranks;     // by rank; an agent gets those of its own
  std::int64_t grace_ms = 10'000;  // between TERM and KILL
  std::string digest;              // of all the above
};

// agent -> coordinator, kind "started".
struct RankStarted {
  int rank = 0;
  int pid = 0;
  int attempt = 1;
  WallTime at{};
};

// agent -> coordinator, kind "exited".
struct RankExited {
  int rank = 0;
  int pid = 0;  // 0: its program did not run
  int attempt = 1;
  int wait_status = 0;  // of waitpid(2)
  int sent_signal = 0;  // the last signal that the agent itself sent before
  bool could_not_start = false;  // then wait_status is 126 or 127 as a status
  WallTime at{};
  RankProgress progress;
  std::vector<Fact> facts;  // oom counters, rusage, kFailed's error, …
  std::string error_cause;  // label, when the rank told one (kFailed)
  std::string error_message;
  std::vector<std::string> last_lines;  // of stderr, at most 20
};

// agent -> coordinator, kind "progress", about every 200 ms.
struct RankSample {
  int rank = 0;
  RankProgress progress;
  char state = '?';  // of /proc/PID/stat
  std::string wait_channel;
  bool finalizing = false;  // the process has closed its frames
};
struct Progress {
  int attempt = 1;
  std::int64_t now_ns = 0;  // CLOCK_MONOTONIC of the agent's host
  std::vector<RankSample> ranks;
};

// coordinator -> agent, kind "stop": end the ranks of this attempt.
struct StopRanks {
  int attempt = 1;
  std::string cause;  // label, written on the board
  bool now = false;   // KILL without TERM and grace
};

// agent -> coordinator, kind "stopped": no process of the attempt is left, or
// those that are do not end (fact "rank.unkillable" in the rank's "exited").
struct Stopped {
  int attempt = 1;
  int leftovers = 0;       // besides its ranks, that had to be killed
  std::vector<Fact> logs;  // what ranks that failed have written
};

// Both ways, kind "store": a store request of a rank of another host, and
// "store-reply". Frames of base/rank_wire.h, as they are.
struct StoreRequest {
  int rank = 0;
  int attempt = 1;
  std::string frame;  // Encode(RankMessage)
};

// coordinator -> agent, kind "goodbye": the run is over.
struct Goodbye {
  int exit_code = 0;
  std::string origin;   // program, signal, muster
  std::string summary;  // the last line
};

#define MUSTER_RUN_MESSAGE(Type)    \
  Json ToJson(const Type& message); \
  Result<Type> Type##FromJson(const Json& json)
MUSTER_RUN_MESSAGE(LaunchPlan);
MUSTER_RUN_MESSAGE(RankStarted);
MUSTER_RUN_MESSAGE(RankExited);
MUSTER_RUN_MESSAGE(Progress);
MUSTER_RUN_MESSAGE(StopRanks);
MUSTER_RUN_MESSAGE(Stopped);
MUSTER_RUN_MESSAGE(StoreRequest);
MUSTER_RUN_MESSAGE(Goodbye);
#undef MUSTER_RUN_MESSAGE

}  // namespace muster::wire
