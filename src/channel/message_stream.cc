// SPDX-License-Identifier: Apache-2.0
#include "channel/message_stream.h"

#include <utility>

#include "base/text.h"

namespace muster::channel {

Error TooLarge(const Envelope& message) {
  return Error(Cause::kInternalError, "a message `" + message.kind + "` of " +
                                          BytesText(message.body.size()) +
                                          " is larger than " +
                                          BytesText(kMaxMessage));
}

Stream::Stream(sys::Loop& loop, sys::Clock& clock)
    : loop_(loop),
      clock_(clock),
      inbox_(std::make_shared<Inbox>(loop)),
      keepalive_(clock.Now()) {}

void Stream::Send(Envelope message) {
  MutexLock lock(mutex_);
  if (closing_ || over_ || write_failed_) {
    return;
  }
  outbox_.push_back(std::move(message));
  NextWrite();
}

void Stream::Close() {
  MutexLock lock(mutex_);
  closing_ = true;
  // Nobody on the loop waits for messages any more: what still comes is read
  // and dropped, for the end of the stream stands behind it.
  NextRead();
  NextWrite();
}

void Stream::Abort() {
  MutexLock lock(mutex_);
  closing_ = true;
  SetOver();
  if (!ended_) {
    Cancel();
  }
}

void Stream::WhenOpen(std::function<void(std::optional<Error>)> open) {
  when_open_ = std::move(open);
}

void Stream::Begin() {
  MutexLock lock(mutex_);
  NextRead();
}

void Stream::ReadDone(std::optional<Envelope> got) {
  const auto keep = shared_from_this();
  MutexLock lock(mutex_);
  reading_ = false;
  if (!got) {
    SetOver();
  } else if (closing_) {
    NextRead();
  } else {
    // The next read is started when the loop has taken this one, so a sender
    // that is faster than the loop has to wait.
    loop_.Post([keep, message = std::move(*got)]() mutable {
      keep->Arrived(std::move(message));
    });
  }
}

void Stream::Arrived(Envelope message) {
  keepalive_.Heard(clock_.Now());
  if (const auto open = std::exchange(when_open_, nullptr)) {
    open(std::nullopt);
  }
  if (message.kind != kBeatKind) {
    inbox_->Deliver(std::move(message));
  }
  MutexLock lock(mutex_);
  NextRead();
}

void Stream::WriteDone(bool sent) {
  const auto keep = shared_from_this();
  MutexLock lock(mutex_);
  writing_ = false;
  if (!sent) {
    // The read reports the end, after what the other side sent before it: a
    // goodbye may be on its way.
    outbox_.clear();
    write_failed_ = true;
  }
  NextWrite();
}

void Stream::Ended(Error why, std::shared_ptr<Stream> self) {
  {
    MutexLock lock(mutex_);
    ended_ = true;
  }
  loop_.Post([self = std::move(self), why = std::move(why)] {
    if (const auto open = std::exchange(self->when_open_, nullptr)) {
      open(why);
    }
    self->inbox_->Lose(why);
  });
}

void Stream::NextRead() {
  if (!reading_ && !over_) {
    reading_ = true;
    StartRead();
  }
}

void Stream::NextWrite() {
  if (writing_ || finished_) {
    return;
  }
  if (!over_ && !outbox_.empty()) {
    writing_ = true;
    Envelope message = std::move(outbox_.front());
    outbox_.pop_front();
    StartWrite(std::move(message));
  } else if (over_ || closing_) {
    finished_ = true;
    FinishWriting(over_);
  }
}

void Stream::SetOver() {
  if (!over_) {
    over_ = true;
    outbox_.clear();
    NextWrite();
    Over();
  }
}

StreamLink::StreamLink(sys::Loop& loop, std::shared_ptr<Stream> stream,
                       std::string peer, std::optional<int> proven_rank)
    : loop_(loop),
      stream_(std::move(stream)),
      peer_(std::move(peer)),
      proven_rank_(proven_rank) {
  beat_ = loop_.Every(kBeat, [this] { Beat(); });
}

StreamLink::~StreamLink() {
  Close();
}

void StreamLink::Beat() {
  const auto stream = stream_;  // a handler may destroy this link
  if (stream->inbox()->closed()) {
    beat_.Cancel();
  } else if (stream->Silent()) {
    beat_.Cancel();
    stream->Abort();
    stream->inbox()->Lose(Error(Cause::kHeartbeatMissed,
                                "received nothing from " + peer_ + " for " +
                                    muster::ToString(kSilence)));
  } else {
    stream->Send({.kind = kBeatKind, .body = ""});
  }
}

void StreamLink::Send(Envelope message) {
  if (stream_->inbox()->closed()) {
    return;
  }
  if (message.body.size() > kMaxMessage) {
    // Told before the end that it brings: the first cause is kept.
    loop_.Post([inbox = stream_->inbox(), error = TooLarge(message)] {
      inbox->Lose(error);
    });
    stream_->Abort();
    return;
  }
  stream_->Send(std::move(message));
}

void StreamLink::OnMessage(std::function<void(Envelope)> handler) {
  stream_->inbox()->OnMessage(std::move(handler));
}

void StreamLink::OnLost(std::function<void(const Error&)> handler) {
  stream_->inbox()->OnLost(std::move(handler));
}

void StreamLink::Close() {
  beat_.Cancel();
  stream_->inbox()->Close();
  stream_->Close();
}

}  // namespace muster::channel
