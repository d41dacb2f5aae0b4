// SPDX-License-Identifier: Apache-2.0
// Frames between a rank and its agent: the bytes on the inherited Unix socket.
//
//   u32 length of what follows | u8 op | u64 id | i64 number |
//   u32 length, key | u32 length, value          (as wire/frame.h has them)
//
// One shape for every op keeps the parser one function. `id` pairs a reply with
// its request; file descriptors travel beside kRegistered (SCM_RIGHTS).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "muster/error.h"

namespace muster::wire {

inline constexpr std::int64_t kRankProtocol = 1;
inline constexpr std::uint32_t kMaxRankFrame = 64U << 20;
// A key of the store and its value together; a larger put is refused
// (os-limit). It must fit an Envelope between agents twice over.
inline constexpr std::size_t kMaxStoreValue = 2U << 20;

// The variable that names the inherited descriptor.
inline constexpr const char* kRankSocketVariable = "MUSTER_AGENT_FD";

enum class RankOp : std::uint8_t {
  // rank -> agent. number: kRankProtocol. value: JSON {"pid", "version"}.
  kRegister = 1,
  // agent -> rank. value: JSON {"rank", "world_size", "local_rank",
  // "local_size", "slot", "segment_ranks", "attempt", "run", "members":
  // ["host:port", …], "tasks": {…cluster_spec…}}; descriptors: progress page,
  // segment.
  kRegistered = 2,
  // rank -> agent, no reply. A fact for the run's events. value: JSON Fact.
  kFact = 3,
  // rank -> agent, no reply. The rank is about to end with this error.
  // key: label of the cause. value: JSON {"message", "evidence": [Fact]}.
  kFailed = 4,
  // Store of this attempt, shared by all ranks. kPut replies kDone.
  kPut = 5,
  // number: time to wait in ms. Replies kValue, or kRefused on time-out.
  kGet = 6,
  kValue = 7,
  // key: name; number: time to wait in ms. Replies kDone when all world_size
  // ranks that train have come, kRefused (deadline-exceeded, value names who is
  // missing).
  kBarrier = 8,
  kDone = 9,
  // key: label of the cause. value: message.
  kRefused = 10,
  // agent -> rank, unasked: end in order. number: grace in ms.
  kStop = 11,
  // number: amount to add to the decimal value of key. Replies kDone, number =
  // the sum (c10d's stores need it).
  kAdd = 12,
};

struct RankMessage {
  RankOp op{};
  std::uint64_t id = 0;
  std::int64_t number = 0;
  std::string key;
  std::string value;

  bool operator==(const RankMessage&) const = default;
};

std::string Encode(const RankMessage& message);

// Takes one message off the front of `buffer`. nullopt: more bytes are needed.
// file-corrupt when the bytes cannot be a message; the stream is then unusable.
Result<std::optional<RankMessage>> TakeMessage(std::string& buffer);

}  // namespace muster::wire
