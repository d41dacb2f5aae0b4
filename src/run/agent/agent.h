// SPDX-License-Identifier: Apache-2.0
// The agent of one host: executes what the coordinator plans for its ranks and
// tells what it sees of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "channel/link.h"
#include "monitor/resource/accelerator_use.h"
#include "muster/error.h"
#include "sys/host.h"
#include "sys/process/spawner.h"
#include "sys/terminal/console.h"
#include "sys/time/loop.h"
#include "wire/agent_messages.h"
#include "wire/hello.h"
#include "wire/mesh_frame.h"

namespace muster::run {

struct AgentOptions {
  // What the agent says of itself. Per call it fills in attempt, clock, pid,
  // cores, addresses and ports; the rest is sent as given. `ranks` are the
  // ranks it answers for and starts.
  wire::Hello identity;
  std::string name = "agent";  // the `by` of its facts: "agent 0"

  // Where offered ports are sought, two per rank. Take a range outside
  // /proc/sys/net/ipv4/ip_local_port_range, or a client's socket may take a
  // port between its release and its use. 0, 0: whatever the kernel gives.
  std::uint16_t first_port = 0;
  std::uint16_t last_port = 0;
  // rank -> the port of an address that the user fixed. It is the first of the
  // rank's two, and the agent answers the call only when it is free; while it
  // waits it sends the fact "port.taken" (fields port, rank, holder) once.
  std::map<int, std::uint16_t> fixed_ports;

  // What is found on this host before an attempt; not set: none. Does
  // not wait. On the loop's thread.
  std::function<std::vector<Finding>(int attempt)> host_checks;

  // With which agents prove to each other who they are when they try the ports
  // of their ranks; not set: nothing is proved.
  wire::Signer signer = wire::PlainSigner();

  // Those of this host, and how it is seen that a rank uses one.
  monitor::HostAccelerators accelerators;

  // Directory for rankR.{out,err} of an attempt ("runs/ID/logs/a1"); empty or
  // not set: no files.
  std::function<std::string(const wire::LaunchPlan&)> log_directory;
  sys::Fs::Access log_access = sys::Fs::Access::kOwner;
  // The coordinator is this process, or has proved that it has the token. Of
  // another one no variable is taken that makes programs load code.
  bool coordinator_proved = true;
  // Where output of ranks is forwarded, prefixed with "[rank 1] " when the
  // world has more than one rank; null: files only. Outlives the agent.
  sys::Console* console = nullptr;

  Duration progress_period = std::chrono::milliseconds(200);
};

// Why an agent is done: the coordinator's goodbye, or the error that ended it
// (the link was lost, or Interrupt).
struct AgentEnd {
  std::optional<wire::Goodbye> goodbye;
  std::optional<Error> error;
};

// Speaks over the link (wire/agent_messages.h):
//
//   from the coordinator   to the coordinator
//   HelloRequest           HelloReply, with the ports held
//   PeerCheckRequest       PeerCheckResult
//   LaunchPlan             RankStarted, one per rank; RankExited where a rank
//                          cannot be started (could_not_start)
//                          Progress, every progress_period
//                          RankExited, one per started rank, at once
//                          AgentFact, any time
//                          StoreRequest; StoreReply answers
//   StopRanks              Stopped, when no process is left
//   Goodbye, Refused       nothing more
//
// Every rank that a launch names for this agent ends in exactly one RankExited,
// and every launch in exactly one Stopped: after a StopRanks, or after all of
// its ranks have ended by themselves (what they left behind is killed then).
// A StopRanks without a launch is answered with Stopped too. A message that
// makes no sense now is reported as the fact "agent.refused" and otherwise
// ignored; one of an unknown kind, or that cannot be read, also ends the agent
// as a lost link does.
//
// All calls from the loop's thread. The agent may be destroyed in on_end.
class Agent {
 public:
  // The references outlive the agent.
  Agent(sys::Loop& loop, const sys::Host& host, sys::Spawner& spawner,
        std::unique_ptr<channel::Link> link, AgentOptions options);
  // Ranks that still run get KILL; use Interrupt for an orderly end.
  ~Agent();

  // Begins to answer. on_end is called once, when no process is left.
  void Start(std::function<void(const AgentEnd&)> on_end);

  // Somebody wants this host to end (a signal to an agent that is not the
  // coordinator): tells the coordinator with the fact "agent.interrupted",
  // stops the ranks (`now`: without grace) and ends with cancelled. A second
  // call with now = true cuts the grace short.
  void Interrupt(bool now);

  // This host goes, and the run may go on without it: leaves the coordinator
  // without a word, which it takes for a lost host, kills the ranks and ends
  // with cancelled.
  void Leave();

 private:
  struct Inner;
  std::unique_ptr<Inner> inner_;
};

}  // namespace muster::run
