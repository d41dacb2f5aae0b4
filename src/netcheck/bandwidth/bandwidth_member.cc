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
constexpr int kMostDials = 4;
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

SpeedMember::SpeedMember(sys::Loop& loop, const sys::Clock& clock,
                         SpeedOptions options,
                         std::function<void(Result<SpeedOutcome>)> done)
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
  door_.emplace(loop_, clock_,
                MeshDoor::Options{.cluster = &options_.cluster,
                                  .self = &options_.self,
                                  .signer = options_.signer,
                                  .answer = options_.patience.answer},
                [this](MeshGuest guest) { Enter(std::move(guest)); });
  if (!door_->taken().empty()) {
    later_ = loop_.After(Duration::zero(), [this] {
      const PortTaken& taken = door_->taken().front();
      End(Error(taken.cause, taken.why));
    });
  } else if (options_.self.rank == 0) {
    Lead();
  } else {
    later_ = loop_.After(Duration::zero(), [this] { SayHello(); });
    Await(options_.wait);
  }
}

void SpeedMember::Lead() {
  lead_.emplace(loop_, SpeedLead::Options{
                           .cluster = &options_.cluster,
                           .wait = options_.wait,
                           .bounds = options_.bounds,
                           .measure = [this](int other) { Measure(other); },
                           .say = options_.say,
                           .over =
                               [this](Result<SpeedOutcome> outcome) {
                                 End(std::move(outcome));
                               }});
}

void SpeedMember::Enter(MeshGuest guest) {
  const auto at = guests_.emplace(guests_.end());
  at->talk = std::move(guest.talk);
  at->rank = guest.who.rank;
  at->talk->Begin(
      {.frame =
           [this, at](const wire::Frame& frame) {
             if (frame.kind == wire::FrameKind::kLarge) {
               at->talk->Send({.kind = wire::FrameKind::kLargeSeen});
             } else if (frame.kind == wire::FrameKind::kJoin && lead_) {
               lead_->Join(at->rank, std::move(at->talk));
             } else if (frame.kind == wire::FrameKind::kPing) {
               MeshTalk& talk = *at->talk;
               at->server =
                   std::make_unique<SpeedServer>(clock_, std::move(at->talk));
               talk.Send({.kind = wire::FrameKind::kPong});
             }
           },
       .end = {}});
  // Of those whose link is measured nothing is left to do.
  std::erase_if(guests_, [&](const Guest& one) {
    return one.server ? !one.server->open() : !one.talk || !one.talk->open();
  });
}

Result<std::unique_ptr<MeshTry>> SpeedMember::TryOf(
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
                                 Deadline::After(options_.patience.connect)));
    }
    return std::make_unique<MeshTry>(
        loop_, clock_,
        MeshTry::Options{.target = target,
                         .number = known.all[known.turn % known.all.size()],
                         .self = &options_.self,
                         .signer = options_.signer,
                         .patience = options_.patience},
        std::move(done));
  }
  return Error(Cause::kLaunchEnvMissing,
               "rank " + std::to_string(rank) + " has no address");
}

void SpeedMember::Turn(int rank) {
  ++numbers_[rank].turn;
}

void SpeedMember::SayHello() {
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

void SpeedMember::Greeted(MeshTried tried) {
  hello_.reset();
  if (tried.result.path != Path::kOk || !tried.talk->open()) {
    // It is not as far yet.
    Turn(0);
    again_ = loop_.After(kHelloAgain, [this] { SayHello(); });
    return;
  }
  leader_ = std::move(tried.talk);
  leader_->Begin({.frame = [this](const wire::Frame& frame) { Heard(frame); },
                  .end = [this](TalkEnd) { LeadLeft(); }});
  leader_->Send({.kind = wire::FrameKind::kJoin});
}

void SpeedMember::LeadLeft() {
  if (led_) {
    End(Error(Cause::kPeerDied, "rank 0 left in the middle"));
    return;
  }
  again_ = loop_.After(kHelloAgain, [this] { SayHello(); });
}

void SpeedMember::Await(Duration patience) {
  patience_ = loop_.After(patience, [this, patience] {
    End(unresolved_ ? *unresolved_
                    : Error(Cause::kDeadlineExceeded,
                            "rank 0 has not said what to measure for " +
                                muster::ToText(patience)));
  });
}

void SpeedMember::Heard(const wire::Frame& frame) {
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
  const Json body = Json::parse(frame.body, nullptr, false);
  if (frame.kind == wire::FrameKind::kProgress) {
    if (const std::string progress = ProgressIn(body); !progress.empty()) {
      options_.say(progress);
    }
  } else if (frame.kind == wire::FrameKind::kSpeeds) {
    auto outcome = SpeedOutcomeFromJson(body);
    if (outcome) {
      KeepRanksBelow(static_cast<int>(options_.cluster.members.size()),
                     *outcome);
    }
    leader_->Send({.kind = wire::FrameKind::kDone});
    End(std::move(outcome));
  }
}

void SpeedMember::Measure(int other) {
  other_ = other;
  tries_ = 0;
  again_ = loop_.After(Duration::zero(), [this] { Dial(); });
}

void SpeedMember::Dial() {
  meter_.reset();
  auto dialling =
      TryOf(other_, [this](MeshTried tried) { Dialled(std::move(tried)); });
  if (dialling) {
    dialling_ = *std::move(dialling);
  } else {
    DialAgain(dialling.error().message());
  }
}

void SpeedMember::DialAgain(std::string why) {
  if (++tries_ < kMostDials) {
    again_ = loop_.After(kDialAgain, [this] { Dial(); });
  } else {
    Report({.passes = 1, .stopped = std::move(why)});
  }
}

void SpeedMember::Dialled(MeshTried tried) {
  dialling_.reset();
  if (tried.result.path == Path::kOk) {
    meter_ = std::make_unique<SpeedMeter>(
        loop_, clock_, std::move(tried.talk), options_.bounds,
        [this](LinkSpeed link) { Report(std::move(link)); });
    return;
  }
  Turn(other_);
  DialAgain(std::string(ToText(tried.result.path)) + ": " + tried.result.seen);
}

void SpeedMember::Report(LinkSpeed link) {
  link.a = options_.self.rank;
  link.b = other_;
  if (lead_) {
    lead_->Measured(link);
  } else if (leader_) {
    leader_->Send(
        {.kind = wire::FrameKind::kMeasured, .body = ToJson(link).dump()});
  }
}

void SpeedMember::End(Result<SpeedOutcome> outcome) {
  if (!std::exchange(ended_, true)) {
    patience_.Cancel();
    again_.Cancel();
    done_(std::move(outcome));
  }
}

Result<SpeedOutcome> RunSpeed(const SpeedOptions& options,
                              const sys::Clock& clock) {
  MUSTER_ASSIGN(const auto loop, sys::Loop::Make());
  Result<SpeedOutcome> told = SpeedOutcome{};
  {
    SpeedMember member(*loop, clock, options,
                       [&](Result<SpeedOutcome> outcome) {
                         told = std::move(outcome);
                         loop->Quit();
                       });
    loop->Run();
  }
  return told;
}

}  // namespace muster::netcheck
