// SPDX-License-Identifier: Apache-2.0
#include "netcheck/mesh/listener.h"

#include <utility>

#include "netcheck/mesh/peer_json.h"

namespace muster::netcheck {
namespace {

// Connections that have not said who they are.
constexpr std::size_t kMaxUnknown = 256;

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

MeshListener::MeshListener(sys::Loop& loop, const sys::Clock& clock,
                           Options options,
                           std::function<void(MeshGuest)> enters)
    : loop_(loop),
      clock_(clock),
      options_(std::move(options)),
      enters_(std::move(enters)) {
  Listen();
}

void MeshListener::Attend(int listener) {
  accepting_.push_back(
      loop_.OnReadable(listener, [this, listener] { Accept(listener); }));
}

void MeshListener::Listen() {
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

void MeshListener::Accept(int listener) {
  while (auto accepted = sys::AcceptNow(listener)) {
    if (!options_.borrowed.empty()) {
      sys::ResetOnClose(accepted->fd.get());
    }
    if (callers_.size() >= kMaxUnknown) {
      continue;  // closed at once: it will try again
    }
    const auto caller = callers_.emplace(callers_.end());
    caller->from = accepted->peer;
    caller->connection = std::make_unique<MeshConnection>(
        loop_, std::move(accepted->fd),
        ConnectionEnds{.signer = options_.signer, .dialler = false});
    caller->timer =
        loop_.After(options_.answer, [this, caller] { Forget(caller); });
    caller->connection->Begin(
        {.frame = [this,
                   caller](const wire::Frame& frame) { Hello(caller, frame); },
         .end = [this, caller](ConnectionEnd) { Forget(caller); }});
  }
}

void MeshListener::Hello(CallerAt caller, const wire::Frame& frame) {
  const Json body = JsonOfFrame(frame.body);
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
  MeshConnection& connection = *caller->connection;
  connection.Salt(*nonce);
  connection.Send({.kind = wire::FrameKind::kWelcome, .body = Dump(welcome)});
  connection.Salt(*nonce + ours);
  connection.Begin({});
  MeshGuest guest{.connection = std::move(caller->connection),
                  .who = *std::move(who)};
  Forget(caller);
  enters_(std::move(guest));
}

void MeshListener::Forget(CallerAt caller) {
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
