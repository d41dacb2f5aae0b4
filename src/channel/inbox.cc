// SPDX-License-Identifier: Apache-2.0
#include "channel/inbox.h"

namespace muster::channel {

void Inbox::OnMessage(std::function<void(Envelope)> handler) {
  on_message_ = std::move(handler);
  FlushSoon();
}

void Inbox::OnLost(std::function<void(const Error&)> handler) {
  on_lost_ = std::move(handler);
  FlushSoon();
}

void Inbox::Close() {
  closed_ = true;
  waiting_.clear();
  // Handlers stay: one of them may be running right now.
}

void Inbox::Deliver(Envelope message) {
  if (!loss_) {
    waiting_.push_back(std::move(message));
    Flush();
  }
}

void Inbox::Lose(Error why) {
  if (!loss_) {
    loss_ = std::move(why);
    Flush();
  }
}

void Inbox::FlushSoon() {
  if (!waiting_.empty() || loss_) {
    loop_.Post([self = shared_from_this()] { self->Flush(); });
  }
}

void Inbox::Flush() {
  const auto self = shared_from_this();
  while (!closed_ && on_message_ && !waiting_.empty()) {
    Envelope message = std::move(waiting_.front());
    waiting_.pop_front();
    const auto handler = on_message_;
    handler(std::move(message));
  }
  if (!closed_ && loss_ && on_lost_ && (waiting_.empty() || !on_message_)) {
    closed_ = true;
    const auto handler = on_lost_;
    handler(*loss_);
  }
}

}  // namespace muster::channel
