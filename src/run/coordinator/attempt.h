// SPDX-License-Identifier: Apache-2.0
// What is known of the attempt that runs: who has ended, and how. Pure; any
// thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "diagnose/verdict/verdict.h"
#include "monitor/stall/watchdog.h"
#include "muster/cluster.h"
#include "muster/error.h"
#include "run/coordinator/decide.h"
#include "wire/agent_messages.h"

namespace muster::run {

class Attempt {
 public:
  // An agent of the attempt; `number` is the RendezvousServer's.
  struct Agent {
    int number = 0;
    std::string host;  // for people
    std::vector<int> ranks;
  };

  Attempt(const Cluster& cluster, int number, std::vector<Agent> agents);

  int number() const { return number_; }
  // False also where there is no such rank.
  bool Runs(int agent, int rank) const;

  // Of ranks that an agent runs.

  void Exited(wire::RankExited exited);
  // False: all of its ranks had ended.
  bool Lost(int agent, const Error& why, WallTime at);
  void Stopped(int agent, wire::Stopped stopped);
  // Told once: ranks that still run do so without progress.
  void StandsStill(monitor::Standstill standstill, WallTime at);
  // Label that the agents were told to end their ranks for.
  void StopsFor(std::string cause) { stop_cause_ = std::move(cause); }
  const std::string& stop_cause() const { return stop_cause_; }

  // An end that no well-running attempt has.
  static bool Failed(const wire::RankExited& exited);
  // All members that train have succeeded and by themselves: status 0 after a
  // signal of ours is that of a program that saved and left. (Parameter servers
  // and evaluators serve until they are told to end.)
  bool Done() const;
  bool EndedAll() const;  // every member, anyhow
  // The first whose program did not run yet when it was to end; empty: none.
  std::string BeingStarted() const;
  // Members that train and live on though others have succeeded; empty: none.
  std::vector<std::string> Awaited() const;
  // They are workers beside parameter servers, and the chief has succeeded:
  // they still train, or serve until they are killed, as those of TensorFlow's
  // ParameterServerStrategy do. Nothing tells which.
  bool ChiefLeftItsWorkers() const;
  // Agents of which processes may still be left.
  std::vector<int> Unstopped() const;
  int Running() const;
  const std::vector<Fact>& logs() const { return logs_; }
  int leftovers() const { return leftovers_; }

  AttemptReach Reach() const;
  diagnose::AttemptEnd End() const;
  // The verdict's root as a decision needs it.
  record::Failure RootOf(const diagnose::Verdict& verdict) const;

 private:
  bool EndedWell(int rank) const;

  const Cluster& cluster_;
  int number_;
  std::vector<Agent> agents_;
  std::map<int, wire::RankExited> ends_;  // by rank
  std::vector<diagnose::AgentLoss> lost_;
  std::set<int> gone_;  // ranks of lost agents
  std::set<int> stopped_;
  std::vector<Fact> logs_;
  int leftovers_ = 0;
  std::optional<monitor::Standstill> standstill_;
  std::string stop_cause_;
};

}  // namespace muster::run
