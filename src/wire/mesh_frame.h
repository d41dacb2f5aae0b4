// SPDX-License-Identifier: Apache-2.0
// Frames of the mesh: how members that look at each other talk over bare TCP.
//
//   dialler  -> listener   handshake: an HTTP request line, so that a foreign
//                          server names itself, then the frame kHello
//   listener -> dialler    kWelcome, or kRefusal
//   dialler  -> listener   kLarge: 64 KiB, to see whether large packets pass
//   listener -> dialler    kLargeSeen
//   either   -> either     kRow, kNeed, kDone
//
// and where links are measured (mesh_speed_member.h):
//
//   member   -> rank 0     kJoin; kMeasured, the speed of a link; kDone
//   rank 0   -> member     kMeasure, the rank of the other end; kProgress;
//                          kSpeeds, those of all links
//   either   -> either     kPing, kPong; kChunk, behind which come as many
//   bytes
//                          as it says, which mean nothing; kPoured, the last of
//                          them is sent
//   dialler  -> listener   kAsk: pour to me
//   listener -> dialler    kCounted, how fast they came
//
// A frame is "MUSF", a frame of wire/frame.h, and the 32 bytes of its signature
// over the conversation's salt, the direction, the frame's number, the kind,
// the body's length and the body (but for kLarge, whose bytes mean nothing).
// The salt is empty for kHello and its refusal, the dialler's nonce for
// kWelcome, both nonces after it: no frame of another conversation is taken for
// one of this.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "muster/error.h"

namespace muster::wire {

// 32 bytes that only who has the key can make of a message.
using Signer = std::function<std::string(std::string_view message)>;
// For members without a key: says "the same", and protects from nothing.
Signer PlainSigner();

// Names the version of all this. A listener answers another one with
// kOtherVersion, by which the dialler knows it.
inline constexpr std::string_view kAnyHandshake = "GET /muster/mesh/";
inline constexpr std::string_view kHandshake =
    "GET /muster/mesh/2 HTTP/1.0\r\nHost: muster\r\n\r\n";
inline constexpr std::string_view kOtherVersion = "505 muster mesh/";
inline constexpr std::string_view kHandshakeRefusal =
    "HTTP/1.0 505 muster mesh/2\r\n\r\n";
inline constexpr std::size_t kSignatureSize = 32;
inline constexpr std::size_t kLargeSize = 64U << 10;
inline constexpr std::uint32_t kMaxBody = 4U << 20;
// Of the first frame of a caller, before which nobody knows who it is: a hello
// without the member list has under 1 KiB.
inline constexpr std::uint32_t kMaxHelloBody = 4U << 10;

enum class FrameKind : std::uint8_t {
  kHello = 1,
  kWelcome,
  kRefusal,
  kLarge,
  kLargeSeen,
  kRow,
  kNeed,  // ranks whose rows are missing
  kDone,  // has all rows, needs nothing more
  kJoin,
  kMeasure,
  kMeasured,
  kProgress,
  kSpeeds,
  kPing,
  kPong,
  kChunk,
  kPoured,
  kAsk,
  kCounted,
};

struct Frame {
  FrameKind kind = FrameKind::kHello;
  std::string body;
};

// One direction of a conversation. Not thread-safe.
class FrameWriter {
 public:
  FrameWriter(Signer signer, bool dialler)
      : signer_(std::move(signer)), dialler_(dialler) {}
  void set_salt(std::string salt) { salt_ = std::move(salt); }
  std::string Write(const Frame& frame);

 private:
  Signer signer_;
  bool dialler_;
  std::string salt_;
  std::uint64_t number_ = 0;
};

// The other end of one. Feed it bytes, take frames.
class FrameReader {
 public:
  // `dialler`: frames come from the dialler.
  FrameReader(Signer signer, bool dialler)
      : signer_(std::move(signer)), dialler_(dialler) {}
  void set_salt(std::string salt) { salt_ = std::move(salt); }
  std::string& buffer() { return buffer_; }
  const std::string& buffer() const { return buffer_; }

  // A whole frame, or nullopt: more bytes are needed. net-wrong-endpoint: it is
  // no frame of this run (`bad_signature` tells which of the two).
  Result<std::optional<Frame>> Take();
  bool bad_signature() const { return bad_signature_; }

 private:
  Signer signer_;
  bool dialler_;
  std::string salt_;
  std::string buffer_;
  std::uint64_t number_ = 0;
  bool bad_signature_ = false;
};

}  // namespace muster::wire
