// SPDX-License-Identifier: Apache-2.0
#include "connect/mesh_talk.h"

#include "sys/stream.h"
#include "sys/tcp.h"

namespace muster::connect {

MeshTalk::MeshTalk(sys::Loop& loop, sys::Fd fd, const TalkEnds& ends)
    : loop_(loop),
      fd_(std::move(fd)),
      writer_(ends.signer, ends.dialler),
      reader_(ends.signer, !ends.dialler),
      dialler_(ends.dialler),
      greeted_(ends.dialler) {}

MeshTalk::~MeshTalk() {
  *alive_ = false;
}

void MeshTalk::Begin(Events events) {
  events_ = std::move(events);
  if (open_ && !readable_.active()) {
    readable_ = loop_.OnReadable(fd_.get(), [this] { Read(); });
  }
  if (open_ && events_.frame && greeted_) {
    // What came while nobody took frames.
    again_ = loop_.After(Duration::zero(), [this] { TakeFrames(); });
  }
}

void MeshTalk::Greet() {
  out_ += kGreeting;
}

void MeshTalk::Salt(const std::string& salt) {
  writer_.set_salt(salt);
  reader_.set_salt(salt);
}

void MeshTalk::Send(const Frame& frame) {
  if (!open_) {
    return;
  }
  out_ += writer_.Write(frame);
  Write();
}

void MeshTalk::Write() {
  while (!out_.empty()) {
    const auto sent = sys::WriteNow(fd_.get(), out_);
    if (!sent) {
      // The reading side says how it ended, and may have an answer before that.
      out_.clear();
      break;
    }
    if (*sent == 0) {
      break;
    }
    out_.erase(0, *sent);
  }
  if (out_.empty()) {
    writable_.Cancel();
  } else if (!writable_.active()) {
    writable_ = loop_.OnWritable(fd_.get(), [this] { Write(); });
  }
}

void MeshTalk::End(TalkEnd end) {
  if (!open_) {
    return;
  }
  open_ = false;
  readable_.Cancel();
  writable_.Cancel();
  const auto call = std::move(events_.end);
  events_ = {};
  if (call) {
    call(end);
  }
}

bool MeshTalk::TakeGreeting() {
  std::string& bytes = reader_.buffer();
  const auto known = std::min(bytes.size(), kGreeting.size());
  if (std::string_view(bytes).substr(0, known) != kGreeting.substr(0, known)) {
    End(TalkEnd::kNoFrame);
    return false;
  }
  if (bytes.size() < kGreeting.size()) {
    return false;
  }
  bytes.erase(0, kGreeting.size());
  greeted_ = true;
  return true;
}

void MeshTalk::TakeFrames() {
  const auto alive = alive_;
  while (*alive && open_ && events_.frame) {
    auto frame = reader_.Take();
    if (!frame) {
      if (reader_.bad_signature() && !dialler_) {
        Send({.kind = FrameKind::kRefusal});
      }
      End(reader_.bad_signature() ? TalkEnd::kStranger : TalkEnd::kNoFrame);
      return;
    }
    if (!*frame) {
      return;
    }
    const auto call = events_.frame;
    call(**frame);
  }
}

void MeshTalk::Read() {
  const bool ended =
      sys::ReceiveTcp(fd_.get(), reader_.buffer()) == sys::Arrived::kEnd;
  const auto alive = alive_;
  if (greeted_ || TakeGreeting()) {
    TakeFrames();
  }
  if (*alive && ended) {
    End(TalkEnd::kClosed);
  }
}

}  // namespace muster::connect
