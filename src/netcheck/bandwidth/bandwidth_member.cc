// SPDX-License-Identifier: Apache-2.0
#include "netcheck/bandwidth/bandwidth_member.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "netcheck/mesh/peer_json.h"

namespace muster::netcheck {
namespace {

constexpr std::chrono::milliseconds kHelloAgain{50};
constexpr std::chrono::milliseconds kDialAgain{50};
constexpr int kMaxDials = 4;
// Rank 0 says every second how far it is.
constexpr std::chrono::seconds kLeadSilence{15};
constexpr std::string_view kPurpose = "speed";

std::string ProgressIn(const Json& json) {
  PeerJson reader(json);
  const auto ended = reader.Number("ended", {0, 1 << 30});
  const auto planned = reader.Number("planned", {0, 1 << 30});
  return planned == 0 ? ""
                      : std::to_string(ended) + " of " + Count(planned, "link");
}

}  // namespace

BandwidthMember::BandwidthMember(
    sys::Loop& loop, const sys::Clock& clock, BandwidthOptions options,
    std::function<void(Result<BandwidthOutcome>)> done)
    : loop_(loop),
      clock_(clock),
      options_(std::move(options)),
      done_(std::move(done)),
      began_(clock.Now()) {
  options_.self.list_digest = Digest(Join(options_.self.members, "\n"));
  options_.self.purpose = kPurpose;
  if (!options_.say) {
    options_.say = [](const std::string&) {};
  }
  listener_.emplace(loop_, clock_,
                    MeshListener::Options{.cluster = &options_.cluster,
                                          .self = &options_.self,
                                          .signer = options_.signer,
                                          .answer = options_.timeouts.answer},
                    [this](MeshGuest guest) { Enter(std::move(guest)); });
  if (!listener_->taken().empty()) {
    later_ = loop_.After(Duration::zero(), [this] {
      const PortTaken& taken = listener_->taken().front();
      End(Error(taken.cause, taken.why));
    });
  } else if (options_.self.rank == 0) {
    Lead();
  } else {
    later_ = loop_.After(Duration::zero(), [this] { SayHello(); });
    Await(options_.wait);
  }
}

void BandwidthMember::Lead() {
  lead_.emplace(loop_, BandwidthLead::Options{
                           .cluster = &options_.cluster,
                           .wait = options_.wait,
                           .bounds = options_.bounds,
                           .measure = [this](int other) { Measure(other); },
                           .say = options_.say,
                           .over =
                               [this](Result<BandwidthOutcome> outcome) {
                                 End(std::move(outcome));
                               }});
}

void BandwidthMember::Enter(MeshGuest guest) {
  const auto at = guests_.emplace(guests_.end());
  at->connection = std::move(guest.connection);
  at->rank = guest.who.rank;
  at->connection->Begin(
      {.frame =
           [this, at](const wire::Frame& frame) {
             if (frame.kind == wire::FrameKind::kLarge) {
               at->connection->Send({.kind = wire::FrameKind::kLargeSeen});
             } else if (frame.kind == wire::FrameKind::kJoin && lead_) {
               lead_->Join(at->rank, std::move(at->connection));
             } else if (frame.kind == wire::FrameKind::kPing) {
               MeshConnection& connection = *at->connection;
               at->server = std::make_unique<BandwidthServer>(
                   clock_, std::move(at->connection));
               connection.Send({.kind = wire::FrameKind::kPong});
             }
           },
       .end = {}});
  // Of those whose link is measured nothing is left to do.
  std::erase_if(guests_, [&](const Guest& one) {
    return one.server ? !one.server->open()
                      : !one.connection || !one.connection->open();
  });
}

Result<std::unique_ptr<MeshTry>> BandwidthMember::TryOf(
    int rank, std::function<void(MeshTried)> done) {
  for (const MeshTarget& target : TargetsOf(options_.cluster)) {
    if (target.rank != rank) {
      continue;
    }
    Numbers& known = numbers_[rank];
    if (known.all.empty()) {
      // It resolved when it was tried before, so this takes no time.
      MUSTER_ASSIGN(known.all,
                    sys::Resolve(AddressOf(options_.cluster, target),
                                 Deadline::After(options_.timeouts.connect)));
    }
    return std::make_unique<MeshTry>(
        loop_, clock_,
        MeshTry::Options{.target = target,
                         .number = known.all[known.turn % known.all.size()],
                         .self = &options_.self,
                         .signer = options_.signer,
                         .timeouts = options_.timeouts},
        std::move(done));
  }
  return Error(Cause::kLaunchEnvMissing,
               "rank " + std::to_string(rank) + " has no address");
}

void BandwidthMember::Turn(int rank) {
  ++numbers_[rank].turn;
}

void BandwidthMember::SayHello() {
  auto hello = TryOf(0, [this](MeshTried tried) { Greeted(std::move(tried)); });
  if (!hello && hello.error().cause() == Cause::kLaunchEnvMissing) {
    End(std::move(hello).error());
    return;
  }
  if (!hello) {
    unresolved_ = std::move(hello).error();
    again_ = loop_.After(kHelloAgain, [this] { SayHello(); });
    return;
  }
  unresolved_.reset();
  hello_ = *std::move(hello);
}

void BandwidthMember::Greeted(MeshTried tried) {
  hello_.reset();
  if (tried.result.path != Path::kOk || !tried.connection->open()) {
    // It is not as far yet.
    Turn(0);
    again_ = loop_.After(kHelloAgain, [this] { SayHello(); });
    return;
  }
  leader_ = std::move(tried.connection);
  leader_->Begin({.frame = [this](const wire::Frame& frame) { Heard(frame); },
                  .end = [this](ConnectionEnd) { LeadLeft(); }});
  leader_->Send({.kind = wire::FrameKind::kJoin});
}

void BandwidthMember::LeadLeft() {
  if (led_) {
    End(Error(Cause::kPeerDied, "rank 0 disconnected during the measurement"));
    return;
  }
  again_ = loop_.After(kHelloAgain, [this] { SayHello(); });
}

void BandwidthMember::Await(Duration timeouts) {
  timeout_ = loop_.After(timeouts, [this, timeouts] {
    End(unresolved_ ? *unresolved_
                    : Error(Cause::kDeadlineExceeded,
                            "rank 0 has sent no instruction for " +
                                muster::ToString(timeouts)));
  });
}

void BandwidthMember::Heard(const wire::Frame& frame) {
  led_ = true;
  Await(kLeadSilence);
  if (frame.kind == wire::FrameKind::kMeasure) {
    const auto other = ParseInt(frame.body);
    if (other && *other >= 0 &&
        *other < static_cast<std::int64_t>(options_.cluster.members.size())) {
      Measure(static_cast<int>(*other));
    }
    return;
  }
  const Json body = JsonOfFrame(frame.body);
  if (frame.kind == wire::FrameKind::kProgress) {
    if (const std::string progress = ProgressIn(body); !progress.empty()) {
      options_.say(progress);
    }
  } else if (frame.kind == wire::FrameKind::kSpeeds) {
    auto outcome = BandwidthOutcomeFromJson(body);
    if (outcome) {
      KeepRanksBelow(static_cast<int>(options_.cluster.members.size()),
                     *outcome);
    }
    leader_->Send({.kind = wire::FrameKind::kDone});
    End(std::move(outcome));
  }
}

void BandwidthMember::Measure(int other) {
  other_ = other;
  tries_ = 0;
  again_ = loop_.After(Duration::zero(), [this] { Dial(); });
}

void BandwidthMember::Dial() {
  meter_.reset();
  auto dialling =
      TryOf(other_, [this](MeshTried tried) { Dialled(std::move(tried)); });
  if (dialling) {
    dialling_ = *std::move(dialling);
  } else {
    DialAgain(dialling.error().message());
  }
}

void BandwidthMember::DialAgain(std::string why) {
  if (++tries_ < kMaxDials) {
    again_ = loop_.After(kDialAgain, [this] { Dial(); });
  } else {
    Report({.passes = 1, .stopped = std::move(why)});
  }
}

void BandwidthMember::Dialled(MeshTried tried) {
  dialling_.reset();
  if (tried.result.path == Path::kOk) {
    meter_ = std::make_unique<BandwidthMeter>(
        loop_, clock_, std::move(tried.connection), options_.bounds,
        [this](LinkBandwidth link) { Report(std::move(link)); });
    return;
  }
  Turn(other_);
  DialAgain(std::string(ToString(tried.result.path)) + ": " +
            tried.result.seen);
}

void BandwidthMember::Report(LinkBandwidth link) {
  link.a = options_.self.rank;
  link.b = other_;
  if (lead_) {
    lead_->Measured(link);
  } else if (leader_) {
    leader_->Send(
        {.kind = wire::FrameKind::kMeasured, .body = Dump(ToJson(link))});
  }
}

void BandwidthMember::End(Result<BandwidthOutcome> outcome) {
  if (!std::exchange(ended_, true)) {
    timeout_.Cancel();
    again_.Cancel();
    done_(std::move(outcome));
  }
}

Result<BandwidthOutcome> RunBandwidth(const BandwidthOptions& options,
                                      const sys::Clock& clock) {
  MUSTER_ASSIGN(const auto loop, sys::Loop::Make());
  Result<BandwidthOutcome> told = BandwidthOutcome{};
  {
    BandwidthMember member(*loop, clock, options,
                           [&](Result<BandwidthOutcome> outcome) {
                             told = std::move(outcome);
                             loop->Quit();
                           });
    loop->Run();
  }
  return told;
}

}  // namespace muster::netcheck
