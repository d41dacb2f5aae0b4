// SPDX-License-Identifier: Apache-2.0
// One launch on one host: from its plan until no process of it is left.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "monitor/resource/accelerator_use.h"
#include "run/agent/agent_rank.h"
#include "sys/file/fd.h"
#include "sys/memory.h"
#include "wire/agent_messages.h"
#include "wire/progress_page.h"

namespace muster::run {

// The ranks of one agent in one attempt, and how they end together:
//
//   running --Stop--> asked (TERM, grace) --grace over, or Stop(now)--> killing
//   running --all have ended--> killing (what they left) --> over ("stopped")
//
// They are started one after the other: what keeps one from starting keeps the
// next from it, too, after another wait maybe. A stop does not wait for a
// start.
//
// The loop's thread only.
class AgentAttempt : public std::enable_shared_from_this<AgentAttempt> {
 public:
  AgentAttempt(const AgentContext& context, wire::LaunchPlan plan);
  // What still runs gets KILL; nothing is told any more.
  ~AgentAttempt();

  // Starts the ranks that the agent answers for. on_over is called once, from
  // the loop, after "stopped" was sent.
  void Launch(std::function<void()> on_over);
  // Ends every wait of the ranks with this cause and the ranks themselves.
  // Asked again with `now`: without waiting for the grace to pass.
  void Stop(Cause cause, bool now);
  // Passes the reply to the rank; false when it is none of this attempt.
  bool Answer(const wire::StoreReply& reply);

  int number() const { return plan_.attempt; }

 private:
  enum class State { kRunning, kAsked, kKilling, kOver };

  Status MakePages();
  std::string MakeLogDirectory();
  void MakeRanks(const std::string& log_directory);
  void StartNext();
  void OnStarted(AgentRank& rank, const Status& started);
  void TellContainment() const;
  std::chrono::milliseconds Grace() const;
  int Running() const;
  bool EndedAll() const;
  void OnExit();
  void WriteStop(Cause cause) const;
  void Kill();
  void OnKilled(int killed);
  void TellProgress();

  const AgentContext& context_;
  wire::LaunchPlan plan_;
  State state_ = State::kRunning;
  Cause stop_cause_ = Cause::kCancelled;  // once asked
  sys::Fd progress_page_fd_;
  sys::Fd segment_fd_;
  sys::Mapping pages_;
  RankShares shares_;
  std::vector<std::shared_ptr<AgentRank>> ranks_;  // also by their callbacks
  std::size_t next_ = 0;                           // of them, to be started
  Status possible_ = Ok();                         // to start it
  int killed_ranks_ = 0;  // ranks among what KillAll ended
  std::function<void()> on_over_;
  sys::Loop::Handle grace_;
  sys::Loop::Handle progress_;
  monitor::AcceleratorUse use_;
  bool containment_sent_ = false;
  sys::Loop::Handle none_started_;
};

}  // namespace muster::run
