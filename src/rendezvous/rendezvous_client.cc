// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/rendezvous_client.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "channel/evidence.h"
#include "wire/agent_messages.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;

constexpr Duration kFirstPause = milliseconds(50);
constexpr Duration kLongestPause = milliseconds(500);
constexpr Duration kServerProbeTimeout = std::chrono::seconds(2);
// Left for the report when the deadline comes.
constexpr Duration kFarewell = milliseconds(50);
// A probe with less time would report its haste, not the server.
constexpr Duration kMinProbeTimeout = milliseconds(200);

}  // namespace

struct RendezvousClient::Inner : std::enable_shared_from_this<Inner> {
  Inner(sys::Loop& l, sys::Clock& c, channel::Transport& t, Options o)
      : loop(l),
        clock(c),
        transport(t),
        options(std::move(o)),
        limit(options.deadline.Remaining()) {}

  void Begin();
  void Probe();
  void Seen(const channel::ProbeResult& sighting);
  void Dial();
  void Introduce(std::unique_ptr<channel::Link> opened);
  void Receive(const channel::Envelope& message);
  void Show(const std::string& observed, Cause cause,
            const std::vector<Fact>& evidence);
  void Again();
  void TooLate();
  void Done(Result<std::unique_ptr<channel::Link>> result);

  sys::Loop& loop;
  sys::Clock& clock;
  channel::Transport& transport;
  Options options;
  const Duration limit;
  bool done = false;
  int probes = 0;
  Duration pause = kFirstPause;
  std::unique_ptr<channel::Link> link;  // dialled, not accepted yet
  // Why the coordinator would refuse, should it not say so itself.
  std::optional<Error> incompatible;
  // Shown is an agent that is not of our run.
  bool stranger = false;
  std::string shown;
  Cause cause = Cause::kRendezvousTimeout;
  std::vector<Fact> facts;
  sys::Loop::Handle end;
  sys::Loop::Handle next;
};

void RendezvousClient::Inner::Begin() {
  end = loop.After(limit, [self = shared_from_this()] { self->TooLate(); });
  next = loop.After(Duration::zero(),
                    [self = shared_from_this()] { self->Probe(); });
}

void RendezvousClient::Inner::Probe() {
  ++probes;
  const auto until = Deadline::At(options.deadline.when() - kFarewell)
                         .Sooner(Deadline::After(kServerProbeTimeout));
  transport.Identify(
      options.coordinator, until,
      [weak = weak_from_this()](const channel::ProbeResult& sighting) {
        const auto self = weak.lock();
        if (self && !self->done) {
          self->Seen(sighting);
        }
      });
}

void RendezvousClient::Inner::Seen(const channel::ProbeResult& sighting) {
  if (sighting.what == channel::ProbeOutcome::kClosed) {
    Done(*sighting.error);
    return;
  }
  if (sighting.what == channel::ProbeOutcome::kAgent) {
    const auto& ranks = sighting.agent->ranks;
    incompatible = wire::Incompatible(options.identity, *sighting.agent);
    if (incompatible || std::find(ranks.begin(), ranks.end(),
                                  options.coordinator_rank) != ranks.end()) {
      Dial();
      return;
    }
  }
  if (sighting.what == channel::ProbeOutcome::kStranger) {
    stranger = true;
  } else if (stranger && sighting.what != channel::ProbeOutcome::kAgent) {
    Again();  // a stranger that went away tells more than where it was
    return;
  }
  Show(channel::Observed(sighting, options.coordinator),
       channel::CauseOf(sighting),
       sighting.error ? sighting.error->evidence() : std::vector<Fact>{});
  Again();
}

void RendezvousClient::Inner::Dial() {
  transport.Dial(
      options.coordinator, options.deadline,
      [weak = weak_from_this()](Result<std::unique_ptr<channel::Link>> opened) {
        const auto self = weak.lock();
        if (!self || self->done) {
          return;
        }
        if (opened) {
          self->Introduce(*std::move(opened));
          return;
        }
        const Error& error = opened.error();
        self->Show(error.message(), error.cause(), error.evidence());
        self->Again();
      });
}

void RendezvousClient::Inner::Introduce(std::unique_ptr<channel::Link> opened) {
  link = std::move(opened);
  // The link is owned here, so its handlers do not outlive this.
  link->OnMessage([this](const channel::Envelope& message) {
    const auto keep = shared_from_this();
    Receive(message);
  });
  link->OnLost([this](const Error& why) {
    const auto keep = shared_from_this();
    if (incompatible) {
      Done(*std::move(incompatible));
      return;
    }
    link.reset();
    Show("it accepted the connection and closed it (" + why.message() + ")",
         why.cause(), why.evidence());
    Again();
  });
  wire::Hello identity = options.identity;
  identity.clock = clock.WallNow();
  link->Send(Encode(wire::Identity{std::move(identity)}));
}

void RendezvousClient::Inner::Receive(const channel::Envelope& message) {
  const auto parsed = wire::ParseToAgent(message);
  if (!parsed) {
    MUSTER_LOG(kWarn, "the coordinator's message is refused",
               {{"peer", link->peer()},
                {"kind", message.kind},
                {"error", parsed.error().ToString()}});
    Done(parsed.error());
  } else if (const auto* refused = std::get_if<wire::Refused>(&*parsed)) {
    Done(wire::ErrorOf(*refused));
  } else if (const auto* welcome = std::get_if<wire::Welcome>(&*parsed)) {
    // An older one takes anybody whose version is near its own.
    if (auto other = wire::Incompatible(options.identity, welcome->hello)) {
      Done(*std::move(other));
      return;
    }
    link->OnMessage(nullptr);
    link->OnLost(nullptr);
    Done(std::move(link));
  }
}

void RendezvousClient::Inner::Show(const std::string& observed, Cause because,
                                   const std::vector<Fact>& evidence) {
  cause = because;
  facts = evidence;
  if (shown == observed) {
    return;
  }
  shown = observed;
  if (options.on_change) {
    options.on_change("the coordinator (" +
                      muster::ToString(options.coordinator) + "): " + observed);
  }
}

// Soon at first, since members of one run are started together.
void RendezvousClient::Inner::Again() {
  if (done) {
    return;  // on_change ended it
  }
  if (options.deadline.Remaining() < pause + kMinProbeTimeout + kFarewell) {
    return;  // nothing more is seen before the end
  }
  next = loop.After(pause, [self = shared_from_this()] { self->Probe(); });
  pause = std::min(2 * pause, kLongestPause);
}

void RendezvousClient::Inner::TooLate() {
  const std::string seen =
      link ? "it accepted the connection but does not respond"
           : (shown.empty() ? "no observation" : shown);
  Error error(cause,
              "the coordinator (" + muster::ToString(options.coordinator) +
                  ") was not reachable within " + muster::ToString(limit) +
                  ": " + seen + " (probed " + Count(probes, "time") + ")");
  Done(channel::WithFacts(std::move(error), facts));
}

void RendezvousClient::Inner::Done(
    Result<std::unique_ptr<channel::Link>> result) {
  done = true;
  end.Cancel();
  next.Cancel();
  link.reset();
  const auto on_done = std::move(options.on_done);
  options.on_change = nullptr;
  on_done(std::move(result));
}

std::unique_ptr<RendezvousClient> RendezvousClient::Start(
    sys::Loop& loop, sys::Clock& clock, channel::Transport& transport,
    Options options) {
  auto inner =
      std::make_shared<Inner>(loop, clock, transport, std::move(options));
  inner->Begin();
  return std::unique_ptr<RendezvousClient>(
      new RendezvousClient(std::move(inner)));
}

RendezvousClient::RendezvousClient(std::shared_ptr<Inner> inner)
    : inner_(std::move(inner)) {}

RendezvousClient::~RendezvousClient() {
  inner_->done = true;
  inner_->end.Cancel();
  inner_->next.Cancel();
  inner_->link.reset();
}

}  // namespace muster::rendezvous
