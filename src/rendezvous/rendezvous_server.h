// SPDX-License-Identifier: Apache-2.0
// The coordinator's engine of the roll call: takes links, calls for every
// attempt, probes the addresses of those who do not come.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "channel/link.h"
#include "channel/transport.h"
#include "finding/finding.h"
#include "muster/cluster.h"
#include "muster/deadline.h"
#include "rendezvous/roll_call.h"
#include "sys/time/clock.h"
#include "sys/time/loop.h"
#include "wire/agent_messages.h"
#include "wire/hello.h"

namespace muster::rendezvous {

// An agent that answered the call. The number names it for as long as its link
// lives; an agent that attends again after a loss gets a new one.
struct Attendance {
  int agent = 0;
  channel::Link* link =
      nullptr;  // owned by the RendezvousServer; valid until on_lost returns
  wire::Hello hello;  // of this attempt, with the ports that it offers
};

// How a call ended.
struct RendezvousResult {
  int attempt = 0;
  std::vector<Attendance> agents;  // that answered, by lowest rank
  std::vector<Finding> warnings;   // complete, but worth saying
  std::vector<Error> errors;       // one per root, empty when complete

  bool complete() const { return errors.empty(); }
};

// One per run, on the coordinator's loop; all calls and callbacks there.
// Messages that are not of the roll call are passed on, so nobody else sets
// handlers of the links.
//
//   auto gathering = RendezvousServer::Make(loop, clock, transport, cluster,
//   options); listener = transport->Listen(address, identity, [&](auto link) {
//     gathering->Attend(std::move(link)); });
//   gathering->AttendHere(std::move(end_of_the_own_agents_link), identity);
//   gathering->Call(1, Deadline::After(60s), show, [&](RendezvousResult
//   gathered) {…});
//
// Between coordinator and agent: on a link that was dialled the agent begins
// with Identity and gets Welcome or Refused (class RendezvousClient does that);
// then each HelloRequest is answered with HelloReply.
class RendezvousServer {
 public:
  struct Options {
    wire::Hello
        identity;  // of the coordinator; all others are compared with it
    // A message that is not of the roll call. Agents are those of a
    // RendezvousResult, or such that attend and will be in a later one. An
    // error: it is not understood, and the agent is refused and lost.
    std::function<Status(int agent, wire::ToCoordinator message)> on_message;
    // The link of an agent of the last complete RendezvousResult is lost while
    // no call is in progress. (During a call the loss is an observation: the
    // agent may attend again, or is named as missing.)
    std::function<void(int agent, const Error& why)> on_lost;
  };
  using OnChange = std::function<void(const std::vector<Missing>& missing)>;
  using OnDone = std::function<void(RendezvousResult)>;

  // The references outlive it. A null transport: all agents attend from within
  // this process, addresses are not looked at.
  static std::unique_ptr<RendezvousServer> Make(sys::Loop& loop,
                                                sys::Clock& clock,
                                                channel::Transport* transport,
                                                Cluster cluster,
                                                Options options);
  // Closes all links, without a word to the agents.
  ~RendezvousServer();

  // An agent from outside, which introduces itself.
  void Attend(std::unique_ptr<channel::Link> link);
  // The agent of this process.
  void AttendHere(std::unique_ptr<channel::Link> link,
                  const wire::Hello& identity);

  // Calls all agents for the attempt and waits for all members until the
  // deadline. on_change: whenever what is seen of the missing members changes
  // (first after 250 ms, at most every 100 ms); on_done: once, also when the
  // call fails before the deadline. One call at a time. Agents that answered
  // keep the ports that they offer until they are told to launch or called
  // again.
  void Call(int attempt, Deadline deadline, OnChange on_change, OnDone on_done);
  // Ends the call in progress without on_done. Nothing happens without one.
  void CancelCall();

  // To all agents that attend, for a Goodbye.
  void SendAll(const wire::Envelope& message);
  // nullptr: its link is gone.
  channel::Link* link(int agent) const;

 private:
  struct Inner;
  explicit RendezvousServer(std::shared_ptr<Inner> inner);
  std::shared_ptr<Inner> inner_;  // also by probes that are under way
};

}  // namespace muster::rendezvous
