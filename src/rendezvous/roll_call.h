// SPDX-License-Identifier: Apache-2.0
// The roll call as a pure state machine: who is expected, who came, what was
// seen of the others, and what follows from it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/text.h"
#include "channel/transport.h"
#include "finding/finding.h"
#include "muster/cluster.h"
#include "muster/error.h"
#include "sys/time/clock.h"
#include "wire/hello.h"

namespace muster::rendezvous {

using muster::ToString;  // those declared here do not hide it

// A member that has not answered the call, and what was last seen of it.
struct Missing {
  int rank = 0;          // the first of its agent
  int members = 1;       // that are missing with it
  std::string name;      // "rank 1 (10.0.0.7:8476)", "ranks 8 to 15 (…)"
  std::string observed;  // "connection refused: nothing listens there yet"

  bool operator==(const Missing&) const = default;
};

// "waiting for 2 of 4 members: rank 1 (a:1), rank 3 (b:1): connection refused:
// …": one line; members that show the same are named together.
std::string ToString(std::span<const Missing> missing, int expected);

// No clock, no loop, no sockets: every observation is told, every answer is a
// value. Links are known by number. One per run; Begin for every attempt. Not
// thread-safe.
class RollCall {
 public:
  // `ours` is what the coordinator says of itself; others are compared with it.
  RollCall(Cluster cluster, wire::Hello ours);

  // Begins to call for an attempt: all links have to answer anew.
  void Begin(int attempt, sys::Clock::Steady deadline, Duration limit);

  // An agent introduces itself on a link. Welcome, or the reason why it cannot
  // take part: duplicate-identity, ver-peer-mismatch, rank-world-mismatch.
  // Unless the ranks that it claims are settled (an agent holds them since a
  // roll call that was complete), the reason also fails the call.
  struct Answer {
    std::optional<Error> refusal;
    std::optional<int> replaces;  // an older link of the same process
  };
  Answer Attends(int link, const wire::Hello& identity, WallTime at);
  // An answer to the call. Answers for another attempt, or on a link that did
  // not introduce itself, do not count.
  void Answers(int link, const wire::Hello& hello);
  // The link is gone.
  void Left(int link, const Error& why);
  // What was seen at the address of a member.
  void Sees(int rank, const channel::ProbeResult& sighting, WallTime at);
  // A fact that an agent told while it was called (port.taken).
  void Reports(const Fact& fact);

  // Ranks that nobody who attends answers for, where probing the address may
  // tell why.
  std::vector<int> Unseen() const;
  std::vector<Missing> MissingMembers() const;

  enum class State { kWaiting, kComplete, kFailed };
  struct Decision {
    State state = State::kWaiting;
    std::vector<int> links;         // that answered, by lowest rank
    std::vector<Finding> warnings;  // when complete
    std::vector<Error> errors;      // when failed: one per root, worst first
  };
  // What follows now. Complete settles the ranks upon their agents.
  Decision Decide(sys::Clock::Steady now);

  // What was last said on a link; nullptr: it does not attend.
  const wire::Hello* HelloOf(int link) const;

 private:
  struct Attendee {
    wire::Hello hello;
    bool answered = false;
    bool settled = false;
  };
  // What is known of a rank that nobody answers for.
  struct Seen {
    std::optional<channel::ProbeResult> sighting;
    WallTime at{};
    std::optional<Error> left;
    std::optional<Fact> told;
    int probes = 0;
  };
  // Why a member is missing: a text that stays the same while nothing changes.
  struct Reason {
    Cause cause;
    std::string observed;
    std::vector<Fact> facts;
  };

  std::optional<int> Holder(int rank) const;  // the link that claims it
  // The ranks that one agent has to answer for, by the first of them.
  std::vector<int> RanksWith(const Member& member) const;
  std::string NameOf(const Member& first) const;
  int FirstOf(int rank) const;  // of its agent
  void Forget(int link);
  std::vector<int> AnsweredLinks() const;  // by lowest rank
  std::optional<Error> Unfit(const wire::Hello& theirs) const;
  std::vector<const Member*> Absent() const;  // the first of each agent
  Reason WhyMissing(const Member& member) const;
  Reason WhyUnseen(const Member& member, const Seen& seen) const;
  Reason WhyNotThisAgent(const Member& member, const Seen& seen) const;
  Error Late(const Reason& reason,
             const std::vector<const Member*>& members) const;
  std::vector<Error> ErrorsAtTheDeadline() const;
  std::vector<Finding> Warnings() const;

  Cluster cluster_;
  wire::Hello ours_;
  std::vector<int> first_;  // rank of its agent, by rank
  int attempt_ = 0;
  bool calling_ = false;
  sys::Clock::Steady deadline_{};
  Duration limit_{};
  std::map<int, Attendee> attendees_;  // by link
  std::map<int, int> holders_;         // rank -> link
  std::size_t unanswered_ = 0;         // ranks, in this call
  std::map<int, Seen> seen_;           // by the first rank of the agent
  std::vector<Error> fatal_;
};

}  // namespace muster::rendezvous
