// SPDX-License-Identifier: Apache-2.0
#include "netcheck/mesh/listener.h"

#include <utility>

#include "base/json.h"

namespace muster::netcheck {
namespace {

// Connections that have not said who they are.
constexpr std::size_t kMostUnknown = 256;

// The number of the list where it is one of ours; else every interface, for a
// name may lead to the loopback here, and an address may be translated.
Result<sys::Listening> ListenAt(const Address& address) {
  if (address.IsNumeric()) {
    auto listening = sys::Listen(address);
    if (listening || listening.error().cause() == Cause::kNetPortInUse) {
      return listening;
    }
  }
  return sys::Listen({.host = "", .port = address.port});
}

}  // namespace

MeshDoor::MeshDoor(sys::Loop& loop, const sys::Clock& clock, Options options,
                   std::function<void(MeshGuest)> enters)
    : loop_(loop),
      clock_(clock),
      options_(std::move(options)),
      enters_(std::move(enters)) {
  Listen();
}

void MeshDoor::Attend(int listener) {
  accepting_.push_back(
      loop_.OnReadable(listener, [this, listener] { Accept(listener); }));
}

void MeshDoor::Listen() {
  if (!options_.borrowed.empty()) {
    for (const int listener : options_.borrowed) {
      Attend(listener);
    }
    return;
  }
  for (const MeshTarget& target : TargetsOf(*options_.cluster)) {
    if (target.rank != options_.self->rank) {
      continue;
    }
    auto listening = ListenAt(AddressOf(*options_.cluster, target));
    if (!listening) {
      taken_.push_back({.port = target.port,
                        .why = listening.error().message(),
                        .cause = listening.error().cause()});
      continue;
    }
    const int fd = listening->fd.get();
    listeners_.push_back(*std::move(listening));
    Attend(fd);
  }
}

void MeshDoor::Accept(int listener) {
  while (auto accepted = sys::AcceptNow(listener)) {
    if (!options_.borrowed.empty()) {
      sys::ResetOnClose(accepted->fd.get());
    }
    if (callers_.size() >= kMostUnknown) {
      continue;  // closed at once: it will try again
    }
    const auto caller = callers_.emplace(callers_.end());
    caller->from = accepted->peer;
    caller->talk = std::make_unique<MeshTalk>(
        loop_, std::move(accepted->fd),
        TalkEnds{.signer = options_.signer, .dialler = false});
    caller->timer =
        loop_.After(options_.answer, [this, caller] { Forget(caller); });
    caller->talk->Begin(
        {.frame = [this,
                   caller](const wire::Frame& frame) { Hello(caller, frame); },
         .end = [this, caller](TalkEnd) { Forget(caller); }});
  }
}

void MeshDoor::Hello(CallerAt caller, const wire::Frame& frame) {
  const Json body = Json::parse(frame.body, nullptr, false);
  auto who = MeshIdentityFromJson(body);
  const auto nonce = TextIn(body, "nonce");
  if (caller->gone || frame.kind != wire::FrameKind::kHello || !who || !nonce ||
      who->purpose != options_.self->purpose) {
    Forget(caller);
    return;
  }
  const std::string ours = MakeNonce();
  Json welcome = ToJson(*options_.self, who->list_digest);
  welcome["nonce"] = ours;
  welcome["seen_from"] = caller->from;
  welcome["clock_us"] =
      std::to_string(clock_.WallNow().time_since_epoch().count());
  MeshTalk& talk = *caller->talk;
  talk.Salt(*nonce);
  talk.Send(
      {.kind = wire::FrameKind::kWelcome,
       .body = welcome.dump(-1, ' ', false, Json::error_handler_t::replace)});
  talk.Salt(*nonce + ours);
  talk.Begin({});
  MeshGuest guest{.talk = std::move(caller->talk), .who = *std::move(who)};
  Forget(caller);
  enters_(std::move(guest));
}

void MeshDoor::Forget(CallerAt caller) {
  // Its callbacks may be on the stack.
  caller->gone = true;
  caller->timer.Cancel();
  if (!sweep_.active()) {
    sweep_ = loop_.After(Duration::zero(), [this] {
      std::erase_if(callers_, [](const Caller& one) { return one.gone; });
    });
  }
}

}  // namespace muster::netcheck
