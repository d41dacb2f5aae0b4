// SPDX-License-Identifier: Apache-2.0
// All messages between the coordinator and the agents: one struct a kind.
//
//   to the coordinator                      to an agent
//   identity           Identity             welcome      Welcome
//                                           refused      Refused
//   hello              HelloReply            call         HelloRequest
//   peer-check-result  PeerCheckResult      peer-check   PeerCheckRequest
//   started            RankStarted          launch       LaunchPlan
//   progress           Progress
//   exited             RankExited           stop         StopRanks
//   stopped            Stopped
//   store              StoreRequest         store-reply  StoreReply
//   fact               AgentFact            goodbye      Goodbye
//
// and "beat", which keeps a link alive (channel/message_stream.h). Whoever
// changes one raises kMessageVersion; identity, welcome and refused mean the
// same in all versions, so that these can say why they part.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "muster/cluster.h"
#include "muster/error.h"
#include "wire/envelope.h"
#include "wire/hello.h"
#include "wire/progress_page.h"

namespace muster::wire {

// agent -> coordinator, first on a link that was dialled.
struct Identity {
  static constexpr std::string_view kKind = "identity";
  Hello hello;
};

// coordinator -> agent: it takes part.
struct Welcome {
  static constexpr std::string_view kKind = "welcome";
  Hello hello;  // of the coordinator
};

// coordinator -> agent: it does not, or no longer. The link is closed.
struct Refused {
  static constexpr std::string_view kKind = "refused";
  std::string cause;  // label
  std::string message;
  std::vector<Fact> evidence;  // at most 16 are sent and read
};
Refused RefusedFor(const Error& error);
// net-wrong-endpoint when it gives no cause that is known here, or no reason.
Error ErrorOf(const Refused& refused);

// coordinator -> agent: an attempt begins, who is there?
struct HelloRequest {
  static constexpr std::string_view kKind = "call";
  int attempt = 0;
};

// agent -> coordinator.
struct HelloReply {
  static constexpr std::string_view kKind = "hello";
  Hello hello;  // of this attempt, with the ports that it holds
};

// agent -> coordinator, any time: for the events of the run.
struct AgentFact {
  static constexpr std::string_view kKind = "fact";
  Fact fact;
};

// coordinator -> agent, before ranks start: try each other on these ports.
struct PeerCheckRequest {
  static constexpr std::string_view kKind = "peer-check";
  int attempt = 1;
  Cluster ports;  // the members at the addresses of their ranks
};

// agent -> coordinator.
struct PeerCheckResult {
  static constexpr std::string_view kKind = "peer-check-result";
  int attempt = 1;
  std::string row;  // JSON of a netcheck::MeshRow
};

// How one rank is started: executed by its agent as written.
struct RankPlan {
  int rank = 0;
  int local_rank = 0;  // among the ranks of its machine
  int local_size = 1;
  int slot = 0;  // among the ranks of its agent, and on that's progress page
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

// coordinator -> agent: the whole attempt, made once by the
// coordinator. Agents take their own ranks from it and never recompute.
struct LaunchPlan {
  static constexpr std::string_view kKind = "launch";
  std::string run_id;
  int attempt = 1;
  int world_size = 1;
  std::vector<std::vector<int>> agents;  // ranks by agent
  std::vector<RankPlan> ranks;     // by rank; an agent gets those of its own
  std::int64_t grace_ms = 10'000;  // between TERM and KILL
  std::string digest;              // of all the above
};

// agent -> coordinator.
struct RankStarted {
  static constexpr std::string_view kKind = "started";
  int rank = 0;
  int pid = 0;
  int attempt = 1;
  WallTime at{};
};

// agent -> coordinator.
struct RankExited {
  static constexpr std::string_view kKind = "exited";
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

// agent -> coordinator, about every 200 ms.
struct RankSample {
  int rank = 0;
  RankProgress progress;
  char state = '?';  // of /proc/PID/stat
  std::string wait_channel;
  bool finalizing = false;  // the process has closed its frames
  // It may wait for the reader of its agent's output, and others for it.
  bool output_held = false;
};
struct Progress {
  static constexpr std::string_view kKind = "progress";
  int attempt = 1;
  std::int64_t now_ns = 0;  // CLOCK_MONOTONIC of the agent's host
  std::vector<RankSample> ranks;
};

// coordinator -> agent: end the ranks of this attempt.
struct StopRanks {
  static constexpr std::string_view kKind = "stop";
  int attempt = 1;
  std::string cause;  // label, written on the progress page
  bool now = false;   // KILL without TERM and grace
};

// agent -> coordinator: no process of the attempt is left, or
// those that are do not end (fact "rank.unkillable" in the rank's "exited").
struct Stopped {
  static constexpr std::string_view kKind = "stopped";
  int attempt = 1;
  int leftovers = 0;       // besides its ranks, that had to be killed
  std::vector<Fact> logs;  // what ranks that failed have written
};

// agent -> coordinator: what a rank asks of the store, in a frame of
// wire/rank_frame.h as it is.
struct StoreRequest {
  static constexpr std::string_view kKind = "store";
  int rank = 0;
  int attempt = 1;
  std::string frame;  // Encode(RankMessage)
};

// coordinator -> agent.
struct StoreReply {
  static constexpr std::string_view kKind = "store-reply";
  int rank = 0;
  int attempt = 1;
  std::string frame;
};

// coordinator -> agent: the run is over.
struct Goodbye {
  static constexpr std::string_view kKind = "goodbye";
  int exit_code = 0;
  std::string origin;   // program, signal, muster
  std::string summary;  // the last line
};

using ToCoordinator =
    std::variant<Identity, HelloReply, AgentFact, PeerCheckResult, RankStarted,
                 Progress, RankExited, Stopped, StoreRequest>;
using ToAgent = std::variant<Welcome, Refused, HelloRequest, PeerCheckRequest,
                             LaunchPlan, StopRanks, StoreReply, Goodbye>;

// Any of the above, losslessly: text that is no UTF-8 travels as its bytes.
template <typename T>
Envelope Encode(const T& message);

// ver-peer-mismatch: the kind is none that the receiver knows, or the body is
// not of this version. (A body that is no hello: net-wrong-endpoint.)
Result<ToCoordinator> ParseToCoordinator(const Envelope& message);
Result<ToAgent> ParseToAgent(const Envelope& message);

// Calls the handler of the message's type, and gives what it returns. One is
// needed for each: a new kind without a handler does not compile.
template <typename... Handlers>
struct HandlersOf : Handlers... {
  using Handlers::operator()...;
};
template <typename Message, typename... Handlers>
auto Dispatch(Message message, Handlers... handlers) {
  return std::visit(HandlersOf<Handlers...>{std::move(handlers)...},
                    std::move(message));
}

}  // namespace muster::wire
