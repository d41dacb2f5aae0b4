// SPDX-License-Identifier: Apache-2.0
// The coordinator of a run: gathers the members, plans, watches, decides,
// restarts, and writes down why.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "diagnose/verdict/verdict.h"
#include "finding/finding.h"
#include "monitor/progress/live_line.h"
#include "monitor/progress/progress_log.h"
#include "monitor/stall/watchdog.h"
#include "muster/cluster.h"
#include "record/journal.h"
#include "rendezvous/rendezvous_server.h"
#include "run/coordinator/attempt.h"
#include "run/coordinator/decide.h"
#include "run/coordinator/peer_check.h"
#include "run/coordinator/store.h"
#include "run/plan/plan.h"
#include "sys/host.h"
#include "sys/terminal/console.h"
#include "sys/time/loop.h"
#include "wire/agent_messages.h"

namespace muster::run {

struct RunOptions {
  std::string run_id;
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;  // --env
  bool for_jax = false;                            // AttemptFacts::for_jax
  bool bind_devices = false;                       // --bind-devices
  int max_restarts = 3;
  Duration gather_timeout = std::chrono::seconds(60);
  Duration grace = std::chrono::seconds(10);
  // Agents of several hosts try each other on the ports of their ranks before
  // these start.
  bool peer_check = false;
  monitor::WatchLimits limits;
  bool color = false;  // of findings
};

// How the run ended.
struct RunEnd {
  int exit_code = 0;
  Origin origin = Origin::kMuster;
  std::string cause;  // label; empty: it succeeded
  std::string text;   // "all 2 ranks succeeded"
};

// One per run. All calls and callbacks on the loop's thread.
//
//   gathering -> running -> stopping -> (pausing -> gathering | ended)
//
// Each observation is a Fact in the journal before anything follows from it;
// what follows is decided by pure functions (MakePlan, Watchdog,
// explain::Judge, Decide) and only applied here.
class Coordinator {
 public:
  // The references outlive it; a null transport: all ranks are on this host.
  Coordinator(sys::Loop& loop, const sys::Host& host, sys::Console& console,
              record::Journal& journal, RunOptions options);
  ~Coordinator();

  // `identity`: of the coordinator, for the roll call. on_end is called once,
  // when no process is left and the journal holds the last fact.
  void Start(channel::Transport* transport, Cluster cluster,
             wire::Hello identity, std::function<void(const RunEnd&)> on_end);
  // Where agents attend. Not before Start.
  rendezvous::RendezvousServer& rendezvous() { return *rendezvous_; }

  // Somebody wants the run to end: in order, or `now` without grace.
  void Interrupt(const std::string& by, bool now);

 private:
  enum class State { kRendezvousServer, kRunning, kStopping, kPausing, kEnded };

  // Life of an attempt.
  void BeginAttempt();
  void OnMissing(std::span<const rendezvous::Missing> missing);
  void OnRendezvous(rendezvous::RendezvousResult gathered);
  void BeginPeerCheck(const Cluster& ports);
  void EndPeerCheck();
  void Plan();
  void Launch(const rendezvous::RendezvousResult& gathered,
              const Planned& planned);
  void EndRanks(const std::string& cause, bool now);
  void OnAttemptOver();
  void Conclude(const record::Failure& failure);
  bool MayStart(std::span<const Finding> findings);
  void FailSetUp(std::span<const Error> errors);
  void EndRun(RunEnd end);

  // What agents say. An error: it is not understood.
  Status OnMessage(int agent, wire::ToCoordinator message);
  Status On(int agent, const wire::PeerCheckResult& result);
  Status On(int agent, wire::AgentFact message);
  Status On(int agent, wire::RankStarted started);
  Status On(int agent, wire::RankExited exited);
  Status On(int agent, wire::Progress progress);
  Status On(int agent, wire::Stopped stopped);
  Status On(int agent, wire::StoreRequest request);
  // Is it of the attempt that runs?
  bool IsCurrent(int attempt) const;
  // False, and told: an agent speaks of ranks that it does not run.
  bool IsOwn(int agent, int rank, std::string_view kind);
  void OnExited(wire::RankExited exited);
  void OnProgress(const wire::Progress& progress);
  void OnLost(int agent, const Error& why);

  void Send(int agent, wire::Envelope message);
  void Record(std::string_view name,
              std::map<std::string, FactValue> fields = {});
  void Tell(std::span<const Finding> findings);
  // The first host that leaves its accelerators idle is shown.
  void TellUnused(const Fact& fact);
  void TellWaiting();
  void Say(const std::string& text);
  void TellFailures();
  std::string Where() const;

  sys::Loop& loop_;
  const sys::Host& host_;
  sys::Console& console_;
  record::Journal& journal_;
  RunOptions options_;
  Cluster cluster_;
  std::function<void(const RunEnd&)> on_end_;

  State state_ = State::kRendezvousServer;
  int number_ = 0;                         // of the attempt
  rendezvous::RendezvousResult gathered_;  // until the ranks are launched
  std::vector<wire::Hello> hellos_;        // of the same
  std::optional<PeerCheck> peer_check_;
  sys::Loop::Handle peer_check_end_;
  std::unique_ptr<Attempt> attempt_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<monitor::ProgressLog> progress_;
  monitor::Watchdog watchdog_;
  RunState decided_;
  std::optional<std::string> interrupted_by_;
  std::set<std::string> warned_;                   // lines that were shown
  std::set<std::pair<int, std::string>> refused_;  // agents, kinds
  bool warned_unused_ = false;
  sys::Clock::Steady started_{};
  std::optional<monitor::LivePace> pace_;
  sys::Loop::Handle pause_;
  sys::Loop::Handle waiting_;  // for those that others have left
  // Last: its callbacks use all of the above.
  std::unique_ptr<rendezvous::RendezvousServer> rendezvous_;
};

}  // namespace muster::run
