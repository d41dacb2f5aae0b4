// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/rendezvous_server.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/log.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;

constexpr Duration kFirstProbe = milliseconds(250);
constexpr Duration kProbePeriod = milliseconds(500);
constexpr Duration kProbeTimeout = std::chrono::seconds(2);
constexpr Duration kShowPeriod = milliseconds(100);
// Left for the report of a probe when the deadline comes.
constexpr Duration kLastWord = milliseconds(50);
constexpr std::size_t kMaxProbesAtOnce = 32;

// An agent claims the rank that its certificate is for, and no other but those
// of its node, which RollCall compares.
std::optional<Error> OtherRank(const channel::Link& link,
                               const wire::Hello& claims,
                               const Cluster& cluster) {
  const auto proven = link.proven_rank();
  if (!proven) {
    return std::nullopt;
  }
  const auto rank = static_cast<std::size_t>(*proven);
  const bool of_node =
      rank < cluster.members.size() && cluster.members[rank].node >= 0;
  const bool own = !claims.ranks.empty() && claims.ranks.front() == *proven;
  if (own && (of_node || claims.ranks.size() == 1)) {
    return std::nullopt;
  }
  return Error(Cause::kDuplicateIdentity,
               Who(claims) + " presents the certificate of rank " +
                   std::to_string(*proven));
}

}  // namespace

struct RendezvousServer::Inner : std::enable_shared_from_this<Inner> {
  using Steady = sys::Clock::Steady;

  struct Attendee {
    std::unique_ptr<channel::Link> link;
    bool introduced = false;
    bool gathered = false;  // of the last complete call
  };

  // The call in progress.
  struct Calling {
    int attempt = 0;
    Deadline deadline;
    OnChange on_change;
    OnDone on_done;
    sys::Loop::Handle end;
    sys::Loop::Handle first_probe;
    sys::Loop::Handle probes;
    sys::Loop::Handle show;
    Steady show_not_before{};
    std::vector<Missing> shown;
    std::set<int> probing;             // ranks
    std::map<int, Steady> last_probe;  // by rank
  };

  Inner(sys::Loop& l, sys::Clock& c, channel::Transport* t, Cluster cluster_,
        Options o)
      : loop(l),
        clock(c),
        transport(t),
        cluster(std::move(cluster_)),
        options(std::move(o)),
        roll(cluster, options.identity) {}

  int Add(std::unique_ptr<channel::Link> link);
  void Receive(int agent, const wire::Envelope& message);
  void Introduce(int agent, const wire::Identity& introduced);
  void Answer(int agent, const wire::HelloReply& reply);
  void NotUnderstood(int agent, const std::string& kind, const Error& why);
  void Welcome(int agent, const RollCall::Answer& answer);
  void Refuse(int agent, const Error& error);
  void Lost(int agent, const Error& why);
  void ProbeMissing();
  void ProbeMember(int rank);
  void ShowSoon();
  void Show();
  void DecideSoon();
  void Decide();

  sys::Loop& loop;
  sys::Clock& clock;
  channel::Transport* transport;
  const Cluster cluster;
  const Options options;
  RollCall roll;
  int next_agent = 1;
  std::map<int, Attendee> attendees;
  std::unique_ptr<Calling> calling;
  std::uint64_t calls = 0;  // tells probes of this call from late ones
};

int RendezvousServer::Inner::Add(std::unique_ptr<channel::Link> link) {
  const int agent = next_agent++;
  // The handlers cannot outlive this: it owns the link.
  link->OnMessage([this, agent](const wire::Envelope& message) {
    const auto keep = shared_from_this();
    Receive(agent, message);
  });
  link->OnLost([this, agent](const Error& why) {
    const auto keep = shared_from_this();
    Lost(agent, why);
  });
  attendees[agent].link = std::move(link);
  return agent;
}

void RendezvousServer::Inner::Receive(int agent,
                                      const wire::Envelope& message) {
  auto parsed = wire::ParseToCoordinator(message);
  if (!parsed) {
    NotUnderstood(agent, message.kind, parsed.error());
    return;
  }
  if (const auto* identity = std::get_if<wire::Identity>(&*parsed)) {
    Introduce(agent, *identity);
    return;
  }
  if (!attendees.at(agent).introduced) {
    return;
  }
  if (const auto* reply = std::get_if<wire::HelloReply>(&*parsed)) {
    Answer(agent, *reply);
    return;
  }
  if (const auto* fact = std::get_if<wire::AgentFact>(&*parsed);
      fact != nullptr && calling) {
    roll.Reports(fact->fact);
    ShowSoon();
  }
  if (options.on_message) {
    if (auto taken = options.on_message(agent, *std::move(parsed)); !taken) {
      NotUnderstood(agent, message.kind, taken.error());
    }
  }
}

// The agent gets the reason and counts as lost: what else it sends would be
// half understood.
void RendezvousServer::Inner::NotUnderstood(int agent, const std::string& kind,
                                            const Error& why) {
  const auto at = attendees.find(agent);
  if (at == attendees.end()) {
    return;
  }
  const wire::Hello* hello = roll.HelloOf(agent);
  const std::string who =
      hello == nullptr ? at->second.link->peer() : Who(*hello);
  MUSTER_LOG(kWarn, "a message of an agent is refused",
             {{"agent", who}, {"kind", kind}, {"error", why.ToString()}});
  at->second.link->Send(Encode(wire::RefusedFor(why)));
  Lost(agent, Error(why).Reworded(who + ": " + why.message()));
}

void RendezvousServer::Inner::Introduce(int agent,
                                        const wire::Identity& introduced) {
  if (attendees.at(agent).introduced) {
    return;
  }
  const wire::Hello& identity = introduced.hello;
  if (auto lie = OtherRank(*attendees.at(agent).link, identity, cluster)) {
    Refuse(agent, *lie);
    return;
  }
  const auto answer = roll.Attends(agent, identity, clock.WallNow());
  if (answer.refusal) {
    Refuse(agent, *answer.refusal);
  } else {
    attendees.at(agent).link->Send(Encode(wire::Welcome{options.identity}));
    Welcome(agent, answer);
  }
  DecideSoon();
}

void RendezvousServer::Inner::Welcome(int agent,
                                      const RollCall::Answer& answer) {
  Attendee& attendee = attendees.at(agent);
  attendee.introduced = true;
  if (calling) {
    attendee.link->Send(Encode(wire::HelloRequest{calling->attempt}));
    ShowSoon();
  }
  if (answer.replaces) {
    Lost(*answer.replaces,
         Error(Cause::kPeerDied,
               "its agent has joined again on another connection"));
  }
}

// The refusal is still sent: a link that is closed delivers what it was given.
void RendezvousServer::Inner::Refuse(int agent, const Error& error) {
  attendees.at(agent).link->Send(Encode(wire::RefusedFor(error)));
  attendees.erase(agent);
}

void RendezvousServer::Inner::Answer(int agent, const wire::HelloReply& reply) {
  roll.Answers(agent, reply.hello);
  ShowSoon();
  DecideSoon();
}

void RendezvousServer::Inner::Lost(int agent, const Error& why) {
  roll.Left(agent, why);
  if (calling) {
    attendees.erase(agent);
    ShowSoon();
    DecideSoon();
    return;
  }
  if (attendees.at(agent).gathered && options.on_lost) {
    options.on_lost(agent, why);
  }
  attendees.erase(agent);
}

// Probes addresses of missing members, those first whose last probe is oldest.
void RendezvousServer::Inner::ProbeMissing() {
  if (!calling || transport == nullptr) {
    return;
  }
  const Steady now = clock.Now();
  std::vector<std::pair<Steady, int>> due;
  for (const int rank : roll.Unseen()) {
    const auto last = calling->last_probe.find(rank);
    if (last == calling->last_probe.end()) {
      due.emplace_back(Steady(), rank);
    } else if (!calling->probing.contains(rank) &&
               now - last->second >= kProbePeriod) {
      due.emplace_back(last->second, rank);
    }
  }
  std::sort(due.begin(), due.end());
  for (const auto& [last, rank] : due) {
    if (calling->probing.size() >= kMaxProbesAtOnce) {
      return;
    }
    ProbeMember(rank);
  }
}

void RendezvousServer::Inner::ProbeMember(int rank) {
  const auto& member = cluster.members[static_cast<std::size_t>(rank)];
  calling->probing.insert(rank);
  calling->last_probe[rank] = clock.Now();
  const auto limit = Deadline::At(calling->deadline.when() - kLastWord)
                         .Sooner(Deadline::After(kProbeTimeout));
  transport->Identify(member.address->value, limit,
                      [weak = weak_from_this(), rank,
                       call = calls](const channel::ProbeResult& seen) {
                        const auto self = weak.lock();
                        if (!self || !self->calling || self->calls != call) {
                          return;
                        }
                        self->calling->probing.erase(rank);
                        self->roll.Sees(rank, seen, self->clock.WallNow());
                        self->ShowSoon();
                        self->ProbeMissing();
                      });
}

void RendezvousServer::Inner::ShowSoon() {
  if (calling && !calling->show.active()) {
    calling->show = loop.After(
        std::max(Duration::zero(), calling->show_not_before - clock.Now()),
        [this] { Show(); });
  }
}

void RendezvousServer::Inner::Show() {
  const auto keep = shared_from_this();
  calling->show.Cancel();
  calling->show_not_before = clock.Now() + kShowPeriod;
  auto missing = roll.MissingMembers();
  if (missing != calling->shown && !missing.empty()) {
    calling->shown = missing;
    const auto on_change = calling->on_change;
    if (on_change) {
      on_change(missing);
    }
  }
}

// Never inside a call of the owner, and once for many messages.
void RendezvousServer::Inner::DecideSoon() {
  loop.Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) {
      self->Decide();
    }
  });
}

void RendezvousServer::Inner::Decide() {
  if (!calling) {
    return;
  }
  auto decision = roll.Decide(clock.Now());
  if (decision.state == RollCall::State::kWaiting) {
    return;
  }
  const auto call = std::exchange(calling, nullptr);
  RendezvousResult gathered;
  gathered.attempt = call->attempt;
  gathered.warnings = std::move(decision.warnings);
  gathered.errors = std::move(decision.errors);
  for (const int agent : decision.links) {
    Attendee& attendee = attendees.at(agent);
    attendee.gathered = gathered.complete();
    gathered.agents.push_back({.agent = agent,
                               .link = attendee.link.get(),
                               .hello = *roll.HelloOf(agent)});
  }
  call->on_done(std::move(gathered));
}

std::unique_ptr<RendezvousServer> RendezvousServer::Make(
    sys::Loop& loop, sys::Clock& clock, channel::Transport* transport,
    Cluster cluster, Options options) {
  return std::unique_ptr<RendezvousServer>(
      new RendezvousServer(std::make_shared<Inner>(
          loop, clock, transport, std::move(cluster), std::move(options))));
}

RendezvousServer::RendezvousServer(std::shared_ptr<Inner> inner)
    : inner_(std::move(inner)) {}

RendezvousServer::~RendezvousServer() {
  // Whoever still holds it (a callback that is running) finds nothing to do.
  inner_->calling.reset();
  inner_->attendees.clear();
}

void RendezvousServer::Attend(std::unique_ptr<channel::Link> link) {
  inner_->Add(std::move(link));
}

void RendezvousServer::AttendHere(std::unique_ptr<channel::Link> link,
                                  const wire::Hello& identity) {
  const int agent = inner_->Add(std::move(link));
  const auto answer =
      inner_->roll.Attends(agent, identity, inner_->clock.WallNow());
  if (answer.refusal) {
    inner_->attendees.erase(agent);
  } else {
    inner_->Welcome(agent, answer);
  }
  inner_->DecideSoon();
}

void RendezvousServer::Call(int attempt, Deadline deadline, OnChange on_change,
                            OnDone on_done) {
  Inner& inner = *inner_;
  MUSTER_CHECK(!inner.calling);
  ++inner.calls;
  const Duration limit = deadline.Remaining();
  inner.calling.reset(new Inner::Calling{.attempt = attempt,
                                         .deadline = deadline,
                                         .on_change = std::move(on_change),
                                         .on_done = std::move(on_done)});
  Inner::Calling& calling = *inner.calling;
  const Duration first = std::min(kFirstProbe, limit / 4);
  calling.show_not_before = inner.clock.Now() + first + kShowPeriod / 2;
  calling.end = inner.loop.After(limit, [&inner] { inner.DecideSoon(); });
  calling.first_probe = inner.loop.After(first, [&inner] {
    inner.ProbeMissing();
    inner.ShowSoon();
  });
  calling.probes =
      inner.loop.Every(kProbePeriod / 5, [&inner] { inner.ProbeMissing(); });
  if (inner.transport != nullptr) {
    inner.transport->BeginEpoch(attempt);
  }
  inner.roll.Begin(attempt, deadline.when(), limit);
  for (auto& [agent, attendee] : inner.attendees) {
    if (attendee.introduced) {
      attendee.link->Send(Encode(wire::HelloRequest{attempt}));
    }
  }
  inner.DecideSoon();
}

void RendezvousServer::CancelCall() {
  inner_->calling.reset();
}

void RendezvousServer::SendAll(const wire::Envelope& message) {
  for (auto& [agent, attendee] : inner_->attendees) {
    if (attendee.introduced) {
      attendee.link->Send(message);
    }
  }
}

channel::Link* RendezvousServer::link(int agent) const {
  const auto at = inner_->attendees.find(agent);
  return at == inner_->attendees.end() || !at->second.introduced
             ? nullptr
             : at->second.link.get();
}

}  // namespace muster::rendezvous
