// SPDX-License-Identifier: Apache-2.0
#include "run/agent/rank_link.h"

#include <deque>
#include <string>
#include <vector>

#include "base/text.h"
#include "sys/net/stream.h"

namespace muster::run {

struct RankLink::Inner : std::enable_shared_from_this<RankLink::Inner> {
  struct Outgoing {
    std::string bytes;
    std::vector<int> descriptors;
    std::size_t sent = 0;
  };

  Inner(sys::Loop& l, sys::Fd s, Handlers h)
      : loop(l), socket(std::move(s)), handlers(std::move(h)) {}

  void Watch();
  bool Receive();
  bool Deliver();
  void Flush();
  void FlushWhenWritable();
  void End(std::optional<Error> why);
  void Shut();

  sys::Loop& loop;
  sys::Fd socket;
  Handlers handlers;
  std::string incoming;
  std::deque<Outgoing> outgoing;
  std::size_t queued = 0;
  sys::Loop::Handle readable;
  sys::Loop::Handle writable;
  sys::Loop::Handle ending;
};

void RankLink::Inner::Watch() {
  readable = loop.OnReadable(socket.get(), [weak = weak_from_this()] {
    if (auto self = weak.lock()) {
      self->Receive();
    }
  });
}

// One read; false when nothing has come or the link is over.
bool RankLink::Inner::Receive() {
  if (!socket) {
    return false;
  }
  const auto arrived = sys::ReceiveNow(socket.get(), incoming, nullptr);
  if (!Deliver()) {
    return false;
  }
  if (!arrived || *arrived == sys::Arrived::kEnd) {
    End(std::nullopt);
    return false;
  }
  return *arrived == sys::Arrived::kSome;
}

// False when the link is over.
bool RankLink::Inner::Deliver() {
  while (socket) {
    auto message = wire::TakeMessage(incoming);
    if (!message) {
      End(std::move(message).error());
      return false;
    }
    if (!message->has_value()) {
      return true;
    }
    handlers.on_message(**message);
  }
  return false;
}

void RankLink::Inner::Flush() {
  while (socket && !outgoing.empty()) {
    Outgoing& first = outgoing.front();
    const auto sent = sys::SendNow(
        socket.get(), std::string_view(first.bytes).substr(first.sent),
        first.descriptors);
    if (!sent) {
      // The rank is gone: reading meets its last words and then the end.
      outgoing.clear();
      queued = 0;
      break;
    }
    if (*sent == 0) {
      FlushWhenWritable();
      return;
    }
    queued -= *sent;
    first.sent += *sent;
    first.descriptors.clear();
    if (first.sent == first.bytes.size()) {
      outgoing.pop_front();
    }
  }
  writable.Cancel();
}

void RankLink::Inner::FlushWhenWritable() {
  if (!writable.active()) {
    writable = loop.OnWritable(socket.get(), [weak = weak_from_this()] {
      if (auto self = weak.lock()) {
        self->Flush();
      }
    });
  }
}

void RankLink::Inner::End(std::optional<Error> why) {
  Shut();
  // Taken out first: the callback may destroy the link.
  auto on_end = std::move(handlers.on_end);
  handlers.on_end = nullptr;
  if (on_end) {
    on_end(std::move(why));
  }
}

void RankLink::Inner::Shut() {
  readable.Cancel();
  writable.Cancel();
  ending.Cancel();
  socket.Close();
  outgoing.clear();
  queued = 0;
}

RankLink::RankLink(sys::Loop& loop, sys::Fd socket, Handlers handlers)
    : inner_(std::make_shared<Inner>(loop, std::move(socket),
                                     std::move(handlers))) {
  inner_->Watch();
}

RankLink::~RankLink() {
  inner_->Shut();
  inner_->handlers.on_end = nullptr;
}

void RankLink::Send(const wire::RankMessage& message,
                    std::span<const int> descriptors) {
  if (!inner_->socket) {
    return;
  }
  std::string bytes = wire::Encode(message);
  inner_->queued += bytes.size();
  inner_->outgoing.push_back(
      {std::move(bytes), {descriptors.begin(), descriptors.end()}});
  inner_->Flush();
  if (inner_->queued > kMaxQueued && !inner_->ending.active()) {
    inner_->ending =
        inner_->loop.After(Duration::zero(), [weak = std::weak_ptr(inner_)] {
          if (auto self = weak.lock()) {
            self->End(Error(Cause::kOsLimit,
                            "the rank does not read its socket while " +
                                BytesText(self->queued) + " are queued"));
          }
        });
  }
}

void RankLink::Drain() {
  const auto kept = inner_;
  while (kept->Receive()) {
  }
}

bool RankLink::open() const {
  return static_cast<bool>(inner_->socket);
}

}  // namespace muster::run
