// SPDX-License-Identifier: Apache-2.0
// One rank as its agent sees it: from its plan to its exit.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "run/agent/agent.h"
#include "run/agent/rank_link.h"
#include "run/agent/rank_output.h"
#include "wire/agent_messages.h"
#include "wire/progress_page.h"

namespace muster::run {

// What all parts of an agent work with. The references outlive them.
struct AgentContext {
  sys::Loop& loop;
  sys::Host host;
  sys::Spawner& spawner;
  const AgentOptions& options;
  // Sends a message to the coordinator.
  std::function<void(wire::Envelope)> send;
  // Sends a fact; `by` and `at` are filled in.
  std::function<void(Fact)> tell;
};

// How often the kernel has killed for memory here since the last look.
class OomWatch {
 public:
  explicit OomWatch(const sys::Fs& fs);
  // Not told yet; 0 also where no counter can be read.
  std::uint64_t Peek() const;
  // The same, and told now.
  std::uint64_t Take();

 private:
  const sys::Fs& fs_;
  std::uint64_t told_ = 0;
};

// What the process of a rank has as its environment.
std::map<std::string, std::string> EnvironmentOf(
    const wire::RankPlan& plan, std::map<std::string, std::string> environment);

// What the ranks of a host and attempt share. Outlives them.
struct RankShares {
  wire::ProgressPage* progress_page = nullptr;  // null: could not be made
  int progress_page_fd = -1;
  int segment_fd = -1;
  OomWatch oom;
  bool log_failure_told = false;
};

// The process of one rank with its socket and its two pipes. Tells the
// coordinator "started" and "exited" itself, each at most once. The loop's
// thread only.
class AgentRank : public std::enable_shared_from_this<AgentRank> {
 public:
  struct Placement {
    wire::RankPlan plan;
    int attempt = 1;
    std::string prefix;         // of its lines on the console
    std::string log_directory;  // empty: no files
  };

  AgentRank(const AgentContext& context, Placement placement,
            RankShares& shares);

  // Starts the process. on_started is told once, perhaps inside of this call,
  // whether it runs; a failure is told as "exited", could_not_start. on_exit is
  // called from the loop when the process has ended.
  void Start(std::function<void(const Status&)> on_started,
             std::function<void()> on_exit);
  // The rank is told not to have been started, for a reason of ours.
  void RefuseToStart(const Error& why);
  // The attempt ends first: told as one that was sent KILL.
  void EndBeforeStart();

  bool running() const { return state_ == State::kRunning; }
  bool ended() const { return state_ == State::kEnded; }
  int rank() const { return plan_.rank; }
  wire::RankSample Sample() const;

  // kStop on its socket, CONT and TERM to its process.
  void AskToStop(Cause cause, std::chrono::milliseconds grace);
  // Somebody else sends it KILL now.
  void MarkKilled();
  // KILL has not ended it: told as an exit nevertheless.
  void GiveUp();
  void Answer(const wire::RankMessage& message);
  // Its descendants are gone too: the rest of what they wrote.
  void FinishOutput();
  // What it has written, when it failed. After FinishOutput.
  std::vector<Fact> ReadLogs() const;

 private:
  enum class State { kWaiting, kStarting, kRunning, kEnded };

  Status Spawn();
  bool HasSlot() const;  // on the progress page
  Status Prepare(sys::ProcessSpec& spec, std::vector<sys::Fd>& for_child);
  Result<sys::Fd> OpenOutput(sys::Console::Stream stream);
  void OnStarted(const Result<int>& pid, WallTime began);
  void OnExit(const wire::Exit& exit);
  void Signal(int signal) const;
  void TellExit(wire::RankExited exited);
  void EndWithGuardian(int signal);
  void AddUsage(const wire::Exit& exit);
  void AddOom(const wire::Exit& exit);
  void OnMessage(const wire::RankMessage& message);
  void OnFailed(const wire::RankMessage& message);
  void OnFact(const wire::RankMessage& message);
  void OnLinkEnd(const std::optional<Error>& why);
  void TellRefused(const Error& why);
  void TellLogFailure(const Error& why);
  Fact About(std::string_view name) const;

  const AgentContext& context_;
  wire::RankPlan plan_;
  int attempt_ = 1;
  std::string prefix_;
  std::string log_directory_;
  RankShares& shares_;
  int pid_ = 0;
  State state_ = State::kWaiting;
  bool registered_ = false;
  bool told_ = false;
  int sent_signal_ = 0;
  int wait_status_ = 0;  // once it has ended
  std::string error_cause_;
  std::string error_message_;
  std::vector<Fact> facts_;
  std::unique_ptr<RankLink> link_;
  std::unique_ptr<RankOutput> out_;
  std::unique_ptr<RankOutput> err_;
  std::function<void(const Status&)> on_started_;
  std::function<void()> on_exit_;
};

}  // namespace muster::run
