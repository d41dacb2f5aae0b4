// SPDX-License-Identifier: Apache-2.0
#include "netcheck/mesh/connection.h"

#include <algorithm>
#include <random>
#include <utility>

#include "sys/net/stream.h"
#include "sys/net/tcp.h"

namespace muster::netcheck {
namespace {

constexpr std::size_t kFillerSize = 256U << 10;

// Bytes that nothing on the way can make fewer.
std::string MakeFiller() {
  std::minstd_rand random(1);
  std::string bytes(kFillerSize, '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(random() >> 8);
  }
  return bytes;
}

}  // namespace

MeshConnection::MeshConnection(sys::Loop& loop, sys::Fd fd,
                               const ConnectionEnds& ends)
    : loop_(loop),
      fd_(std::move(fd)),
      writer_(ends.signer, ends.dialler),
      reader_(ends.signer, !ends.dialler),
      dialler_(ends.dialler),
      accepted_(ends.dialler) {}

MeshConnection::~MeshConnection() {
  *alive_ = false;
}

void MeshConnection::Begin(Events events) {
  events_ = std::move(events);
  if (open_ && !readable_.active()) {
    readable_ = loop_.OnReadable(fd_.get(), [this] { Read(); });
  }
  if (open_ && events_.frame && accepted_) {
    // What came while nobody took frames.
    again_ = loop_.After(Duration::zero(), [this] { TakeFrames(); });
  }
}

void MeshConnection::Greet() {
  out_ += wire::kHandshake;
}

void MeshConnection::Salt(const std::string& salt) {
  writer_.set_salt(salt);
  reader_.set_salt(salt);
}

void MeshConnection::Send(const wire::Frame& frame) {
  if (!open_) {
    return;
  }
  out_ += writer_.Write(frame);
  Write();
}

void MeshConnection::Pour(std::size_t bytes) {
  if (!open_) {
    return;
  }
  if (filler_.empty()) {
    filler_ = MakeFiller();
  }
  pour_left_ += bytes;
  pouring_ = true;
  if (!writable_.active()) {
    writable_ = loop_.OnWritable(fd_.get(), [this] { Write(); });
  }
}

bool MeshConnection::WriteFrames() {
  while (!out_.empty()) {
    const auto sent = sys::WriteNow(fd_.get(), out_);
    if (!sent) {
      // The reading side says how it ended, and may have an answer before that.
      out_.clear();
      pour_left_ = 0;
      pouring_ = false;
      break;
    }
    if (*sent == 0) {
      return false;
    }
    out_.erase(0, *sent);
  }
  return true;
}

bool MeshConnection::WritePoured() {
  while (pour_left_ > 0) {
    const auto sent = sys::WriteNow(
        fd_.get(), std::string_view(filler_).substr(0, pour_left_));
    if (!sent) {
      pour_left_ = 0;
      pouring_ = false;
      break;
    }
    if (*sent == 0) {
      return false;
    }
    pour_left_ -= *sent;
  }
  return true;
}

void MeshConnection::Write() {
  if (!WriteFrames() || !WritePoured()) {
    if (!writable_.active()) {
      writable_ = loop_.OnWritable(fd_.get(), [this] { Write(); });
    }
    return;
  }
  if (std::exchange(pouring_, false) && events_.drained) {
    const auto alive = alive_;
    const auto call = events_.drained;
    call();
    if (!*alive) {
      return;
    }
  }
  if (unsent() == 0) {
    writable_.Cancel();
  }
}

void MeshConnection::Skip(std::uint64_t bytes) {
  std::string& buffer = reader_.buffer();
  const auto here = std::min<std::uint64_t>(bytes, buffer.size());
  buffer.erase(0, static_cast<std::size_t>(here));
  skip_left_ = bytes - here;
  TellSkipped(here);
}

void MeshConnection::TellSkipped(std::uint64_t bytes) const {
  if (bytes > 0 && events_.skipped) {
    const auto call = events_.skipped;
    call(bytes);
  }
}

void MeshConnection::SkipSome() {
  const auto discarded = sys::DiscardTcp(fd_.get(), skip_left_);
  skip_left_ -= discarded.bytes;
  const auto alive = alive_;
  TellSkipped(discarded.bytes);
  if (*alive && discarded.arrived == sys::Arrived::kEnd) {
    End(ConnectionEnd::kClosed);
  }
}

void MeshConnection::End(ConnectionEnd end) {
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

bool MeshConnection::TakeHandshake() {
  std::string& bytes = reader_.buffer();
  const auto known = std::min(bytes.size(), wire::kHandshake.size());
  if (std::string_view(bytes).substr(0, known) !=
      wire::kHandshake.substr(0, known)) {
    if (bytes.starts_with(wire::kAnyHandshake)) {
      out_ += wire::kHandshakeRefusal;
      Write();
    }
    End(ConnectionEnd::kNoFrame);
    return false;
  }
  if (bytes.size() < wire::kHandshake.size()) {
    return false;
  }
  bytes.erase(0, wire::kHandshake.size());
  accepted_ = true;
  return true;
}

void MeshConnection::TakeFrames() {
  const auto alive = alive_;
  while (*alive && open_ && events_.frame && skip_left_ == 0) {
    auto frame = reader_.Take();
    if (!frame) {
      if (reader_.bad_signature() && !dialler_) {
        Send({.kind = wire::FrameKind::kRefusal});
      }
      End(reader_.bad_signature() ? ConnectionEnd::kStranger
                                  : ConnectionEnd::kNoFrame);
      return;
    }
    if (!*frame) {
      return;
    }
    const auto call = events_.frame;
    call(**frame);
  }
}

void MeshConnection::Read() {
  if (skip_left_ > 0) {
    SkipSome();
    return;
  }
  const bool ended =
      sys::ReceiveTcp(fd_.get(), reader_.buffer()) == sys::Arrived::kEnd;
  const auto alive = alive_;
  if (accepted_ || TakeHandshake()) {
    TakeFrames();
  }
  if (*alive && ended) {
    End(ConnectionEnd::kClosed);
  }
}

}  // namespace muster::netcheck
