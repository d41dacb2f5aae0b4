// SPDX-License-Identifier: Apache-2.0
#include "run/agent/agent.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "run/agent/agent_attempt.h"
#include "run/agent/agent_peer_check.h"
#include "run/plan/rank_environment.h"
#include "sys/net/net.h"
#include "sys/process/process.h"

namespace muster::run {
namespace {

constexpr int kPortsPerRank = 2;
constexpr auto kAskForFixedPortEvery = std::chrono::milliseconds(100);

// Variables that make a program load code from where they say: of the loader
// (ld.so(8)), of Python (python(1)), of shells, of muster but those of the
// plan.
bool LoadsCode(const std::string& name) {
  const auto planned = RankVariables();
  if (std::find(planned.begin(), planned.end(), name) != planned.end()) {
    return false;
  }
  constexpr std::string_view kPrefixes[] = {"LD_", "PYTHON", "MUSTER_"};
  constexpr std::string_view kNames[] = {"PATH", "HOME", "BASH_ENV", "ENV",
                                         "GCONV_PATH"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](auto prefix) { return name.starts_with(prefix); }) ||
         std::find(std::begin(kNames), std::end(kNames), name) !=
             std::end(kNames);
}

}  // namespace

struct Agent::Inner {
  Inner(sys::Loop& l, const sys::Host& host, sys::Spawner& spawner,
        std::unique_ptr<channel::Link> k, AgentOptions o)
      : loop(l),
        options(std::move(o)),
        context{
            l,
            host,
            spawner,
            options,
            [this](wire::Envelope message) { link->Send(std::move(message)); },
            [this](Fact fact) { Tell(std::move(fact)); }},
        link(std::move(k)) {}

  void Tell(Fact fact) const;
  void TellRefused(const std::string& kind, const Error& why) const;

  void OnMessage(const wire::Envelope& message);
  Status On(const wire::Welcome& welcome);
  Status On(const wire::Refused& refused);
  Status On(const wire::HelloRequest& call);
  Status On(wire::PeerCheckRequest request);
  Status On(wire::LaunchPlan plan);
  Status On(const wire::StopRanks& stop);
  Status On(const wire::StoreReply& reply);
  Status On(wire::Goodbye goodbye);

  std::optional<Error> WhyNotFromElsewhere(const wire::LaunchPlan& plan) const;
  Status HoldFor(int rank);
  bool HoldAll();
  void TellTaken(int rank, const Error& why, bool waits) const;
  void SayHello();
  void LetGo();

  void BeginEnd(AgentEnd why, Cause cause, bool now);
  void OnAttemptOver();
  void EndLater();

  sys::Loop& loop;
  AgentOptions options;
  AgentContext context;
  std::unique_ptr<channel::Link> link;
  std::function<void(const AgentEnd&)> on_end;

  int called = 0;                    // attempt of the newest call
  std::vector<sys::Listening> held;  // for that attempt, by rank, two each
  // Takes connections on those; keeps what it has sent until they are let go.
  std::unique_ptr<AgentPeerCheck> peer_check;
  bool told_taken = false;
  std::optional<Finding> too_few;  // why other ports cannot be had
  sys::Loop::Handle asking;        // again for ports that are taken

  std::shared_ptr<AgentAttempt> attempt;  // also by its own callbacks
  int stopped = 0;                        // the attempt that was over last
  std::optional<AgentEnd> end;
  sys::Loop::Handle ending;
};

void Agent::Inner::Tell(Fact fact) const {
  if (fact.by.empty()) {
    fact.by = options.name;
  }
  if (fact.at == WallTime{}) {
    fact.at = context.host.clock.EventNow();
  }
  link->Send(Encode(wire::AgentFact{std::move(fact)}));
}

void Agent::Inner::TellRefused(const std::string& kind,
                               const Error& why) const {
  MUSTER_LOG(kWarn, "the agent rejected a message of the coordinator",
             {{"kind", kind}, {"error", why.ToString()}});
  Tell({.name = "agent.refused",
        .fields = {{"kind", kind},
                   {"cause", std::string(Label(why.cause()))},
                   {"text", why.message()}},
        .subject = options.name});
}

// What is not understood ends the link: the rest of what the coordinator wants
// would be half understood.
void Agent::Inner::OnMessage(const wire::Envelope& message) {
  auto parsed = wire::ParseToAgent(message);
  if (!parsed) {
    TellRefused(message.kind, parsed.error());
    BeginEnd({.goodbye = std::nullopt, .error = parsed.error()},
             parsed.error().cause(), false);
    return;
  }
  const auto handled = wire::Dispatch(
      *std::move(parsed),
      [this](auto received) -> Status { return On(std::move(received)); });
  if (!handled) {
    TellRefused(message.kind, handled.error());
  }
}

Status Agent::Inner::On(const wire::Welcome& /*welcome*/) {
  return Error(Cause::kUsageInvalid,
               "received a welcome message after joining");
}

Status Agent::Inner::On(const wire::Refused& refused) {
  const Error error = wire::ErrorOf(refused);
  BeginEnd({.goodbye = std::nullopt, .error = error}, error.cause(), false);
  return Ok();
}

Status Agent::Inner::On(const wire::HelloRequest& call) {
  if (end) {
    return Ok();  // nothing new begins
  }
  if (attempt) {
    return Error(Cause::kUsageInvalid, "a call while attempt " +
                                           std::to_string(attempt->number()) +
                                           " is not over");
  }
  called = call.attempt;
  LetGo();
  told_taken = false;
  SayHello();
  return Ok();
}

// Answers the call, or asks again soon while a fixed port is taken.
void Agent::Inner::SayHello() {
  if (!HoldAll()) {
    asking = loop.After(kAskForFixedPortEvery, [this] { SayHello(); });
    return;
  }
  wire::Hello hello = options.identity;
  hello.attempt = called;
  hello.pid = sys::OwnPid();
  hello.clock = context.host.clock.WallNow();
  hello.cores = context.host.env.Cores();
  hello.addresses = context.host.env.LocalAddresses();
  hello.ports.clear();
  for (const auto& port : held) {
    hello.ports.push_back(port.address.port);
  }
  if (options.host_checks) {
    hello.findings = options.host_checks(called);
  }
  if (too_few) {
    hello.findings.push_back(*too_few);
  }
  link->Send(Encode(wire::HelloReply{std::move(hello)}));
}

// Nobody else has the ports until here.
void Agent::Inner::LetGo() {
  peer_check.reset();
  held.clear();
}

Status Agent::Inner::On(wire::PeerCheckRequest request) {
  if (end) {
    return Ok();
  }
  if (attempt) {
    return Error(Cause::kUsageInvalid, "a peer check while ranks are running");
  }
  MUSTER_ASSIGN(peer_check, AgentPeerCheck::Start(
                                loop, context.host.clock, std::move(request),
                                {.attempt = called,
                                 .identity = &options.identity,
                                 .signer = options.signer,
                                 .held = held},
                                [this](const wire::PeerCheckResult& result) {
                                  link->Send(Encode(result));
                                }));
  return Ok();
}

// The ports of one rank: the one that the user fixed first.
Status Agent::Inner::HoldFor(int rank) {
  int count = kPortsPerRank;
  if (const auto fixed = options.fixed_ports.find(rank);
      fixed != options.fixed_ports.end()) {
    MUSTER_ASSIGN(auto one,
                  sys::HoldPorts("", 1, fixed->second, fixed->second));
    held.push_back(std::move(one.front()));
    --count;
  }
  MUSTER_ASSIGN(auto rest, sys::HoldPorts("", count, options.first_port,
                                          options.last_port));
  std::move(rest.begin(), rest.end(), std::back_inserter(held));
  return Ok();
}

// False when a fixed port is taken: it is waited for. Where other ports cannot
// be had, the reply to the call says why.
bool Agent::Inner::HoldAll() {
  held.clear();
  too_few.reset();
  for (const int rank : options.identity.ranks) {
    const auto before = held.size();
    const auto holds = HoldFor(rank);
    if (holds) {
      continue;
    }
    const bool fixed =
        options.fixed_ports.contains(rank) && held.size() == before;
    if (!std::exchange(told_taken, true)) {
      TellTaken(rank, holds.error(), fixed);
    }
    if (fixed) {
      held.clear();
      return false;
    }
    // What is at fault for the rest as well: the run ends with it.
    too_few = FromError(holds.error());
    too_few->what = options.identity.host + " has no ports for " +
                    Count(std::ssize(options.identity.ranks), "rank") + ": " +
                    too_few->what;
    break;
  }
  return true;
}

void Agent::Inner::TellTaken(int rank, const Error& why, bool waits) const {
  Fact fact{.name = "port.taken", .subject = "rank " + std::to_string(rank)};
  for (const Fact& one : why.evidence()) {
    fact.fields.insert(one.fields.begin(), one.fields.end());
  }
  fact.fields["rank"] = std::int64_t{rank};
  fact.fields["cause"] = std::string(Label(why.cause()));
  fact.fields["text"] = why.message();
  fact.fields["waits"] = waits;
  MUSTER_LOG(kWarn,
             waits ? "waiting for a fixed port" : "not enough free ports",
             {{"rank", rank}, {"error", why.ToString()}});
  Tell(std::move(fact));
}

std::optional<Error> Agent::Inner::WhyNotFromElsewhere(
    const wire::LaunchPlan& plan) const {
  if (options.coordinator_proved) {
    return std::nullopt;
  }
  for (const wire::RankPlan& rank : plan.ranks) {
    const auto& environment = rank.environment;
    const auto bad =
        std::find_if(environment.begin(), environment.end(),
                     [](const auto& one) { return LoadsCode(one.first); });
    if (bad != environment.end() || !rank.directory.empty()) {
      const std::string what =
          bad == environment.end()
              ? "the directory `" + Printable(rank.directory) + "`"
              : "the variable `" + Printable(bad->first) + "`";
      return Error(Cause::kUsageInvalid,
                   "the coordinator sets " + what +
                       ", from which programs load code, and has not proved "
                       "who it is: set it on this host itself, or give all "
                       "members the same secret, `--token-file FILE`");
    }
  }
  return std::nullopt;
}

Status Agent::Inner::On(wire::LaunchPlan plan) {
  if (end) {
    return Ok();
  }
  if (const auto why = WhyNotFromElsewhere(plan)) {
    BeginEnd({.goodbye = std::nullopt, .error = *why}, why->cause(), true);
    return *why;
  }
  if (attempt) {
    return Error(Cause::kUsageInvalid, "a launch while attempt " +
                                           std::to_string(attempt->number()) +
                                           " is not over");
  }
  asking.Cancel();
  LetGo();
  attempt = std::make_shared<AgentAttempt>(context, std::move(plan));
  attempt->Launch([this] { OnAttemptOver(); });
  return Ok();
}

Status Agent::Inner::On(const wire::StopRanks& stop) {
  if (attempt && attempt->number() == stop.attempt) {
    attempt->Stop(CauseFromLabel(stop.cause).value_or(Cause::kCancelled),
                  stop.now);
  } else if (stop.attempt != stopped) {
    // Nothing of it was ever started here.
    stopped = stop.attempt;
    LetGo();
    asking.Cancel();
    link->Send(Encode(wire::Stopped{.attempt = stop.attempt}));
  }
  return Ok();
}

Status Agent::Inner::On(const wire::StoreReply& reply) {
  // A late reply to a rank that has ended is no mistake of anybody.
  if (attempt && attempt->number() == reply.attempt &&
      !attempt->Answer(reply)) {
    return Error(Cause::kUsageInvalid,
                 "a store reply without a complete frame");
  }
  return Ok();
}

Status Agent::Inner::On(wire::Goodbye goodbye) {
  BeginEnd({.goodbye = std::move(goodbye), .error = std::nullopt},
           Cause::kCancelled, true);
  return Ok();
}

void Agent::Inner::BeginEnd(AgentEnd why, Cause cause, bool now) {
  if (!end) {
    end = std::move(why);
  } else if (why.goodbye) {
    end->goodbye = std::move(why.goodbye);
  }
  asking.Cancel();
  LetGo();
  if (attempt) {
    attempt->Stop(cause, now);
  } else {
    EndLater();
  }
}

void Agent::Inner::OnAttemptOver() {
  stopped = attempt->number();
  if (end) {
    EndLater();
  }
  // The attempt is still on the stack: it goes when the loop comes round.
  loop.Post([over = std::move(attempt)] {});
  attempt = nullptr;
}

// From the loop: the agent may be destroyed in it.
void Agent::Inner::EndLater() {
  if (!ending.active()) {
    ending = loop.After(Duration::zero(), [this] {
      link->Close();
      const auto told = std::move(on_end);
      const AgentEnd why = *end;
      if (told) {
        told(why);
      }
    });
  }
}

Agent::Agent(sys::Loop& loop, const sys::Host& host, sys::Spawner& spawner,
             std::unique_ptr<channel::Link> link, AgentOptions options)
    : inner_(std::make_unique<Inner>(loop, host, spawner, std::move(link),
                                     std::move(options))) {}

Agent::~Agent() = default;

void Agent::Start(std::function<void(const AgentEnd&)> on_end) {
  Inner* inner = inner_.get();
  inner->on_end = std::move(on_end);
  inner->link->OnMessage(
      [inner](const wire::Envelope& message) { inner->OnMessage(message); });
  inner->link->OnLost([inner](const Error& error) {
    inner->BeginEnd({.goodbye = std::nullopt, .error = error}, error.cause(),
                    false);
  });
}

void Agent::Interrupt(bool now) {
  if (!inner_->end) {
    inner_->Tell({.name = "agent.interrupted",
                  .fields = {{"now", now}},
                  .subject = inner_->options.name});
  }
  inner_->BeginEnd(
      {.goodbye = std::nullopt,
       .error = Error(Cause::kCancelled, "the agent was interrupted")},
      Cause::kCancelled, now);
}

void Agent::Leave() {
  inner_->link->Close();
  inner_->BeginEnd(
      {.goodbye = std::nullopt,
       .error = Error(Cause::kCancelled, "this host has left the run")},
      Cause::kCancelled, true);
}

}  // namespace muster::run
