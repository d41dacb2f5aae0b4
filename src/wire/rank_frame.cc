// SPDX-License-Identifier: Apache-2.0
#include "wire/rank_frame.h"

#include <bit>
#include <cstring>
#include <type_traits>

namespace muster::wire {
namespace {

static_assert(std::endian::native == std::endian::little,
              "frames and checkpoints are written little-endian");

constexpr std::size_t kFixed = 1 + 8 + 8 + 4 + 4;

template <typename T>
void Append(std::string& bytes, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof raw);
}

// Takes typed values off a body; `ok` turns false at the first lack.
struct ByteReader {
  std::string_view rest;
  bool ok = true;

  template <typename T>
  T Take() {
    T value{};
    if (rest.size() < sizeof value) {
      ok = false;
      return value;
    }
    std::memcpy(&value, rest.data(), sizeof value);
    rest.remove_prefix(sizeof value);
    return value;
  }

  std::string TakeText() {
    const auto length = Take<std::uint32_t>();
    if (!ok || rest.size() < length) {
      ok = false;
      return {};
    }
    std::string text(rest.substr(0, length));
    rest.remove_prefix(length);
    return text;
  }
};

}  // namespace

std::string Encode(const RankMessage& message) {
  std::string bytes;
  const std::size_t length = kFixed + message.key.size() + message.value.size();
  MUSTER_CHECK(length <= kMaxRankFrame);
  bytes.reserve(4 + length);
  Append(bytes, static_cast<std::uint32_t>(length));
  Append(bytes, static_cast<std::uint8_t>(message.op));
  Append(bytes, message.id);
  Append(bytes, message.number);
  Append(bytes, static_cast<std::uint32_t>(message.key.size()));
  bytes += message.key;
  Append(bytes, static_cast<std::uint32_t>(message.value.size()));
  bytes += message.value;
  return bytes;
}

Result<std::optional<RankMessage>> TakeMessage(std::string& buffer) {
  if (buffer.size() < 4) {
    return std::optional<RankMessage>();
  }
  std::uint32_t length = 0;
  std::memcpy(&length, buffer.data(), sizeof length);
  if (length < kFixed || length > kMaxRankFrame) {
    return Error(Cause::kFileCorrupt, "a frame of a rank says it is " +
                                          std::to_string(length) +
                                          " bytes long");
  }
  if (buffer.size() < 4 + std::size_t{length}) {
    return std::optional<RankMessage>();
  }
  const std::string_view whole = buffer;
  ByteReader reader{.rest = whole.substr(4, length)};
  RankMessage message;
  const auto op = reader.Take<std::uint8_t>();
  message.id = reader.Take<std::uint64_t>();
  message.number = reader.Take<std::int64_t>();
  message.key = reader.TakeText();
  message.value = reader.TakeText();
  if (!reader.ok || !reader.rest.empty() || op == 0 ||
      op > static_cast<std::uint8_t>(RankOp::kAdd)) {
    return Error(Cause::kFileCorrupt, "a frame of a rank is malformed (op " +
                                          std::to_string(op) + ", " +
                                          std::to_string(length) + " bytes)");
  }
  message.op = static_cast<RankOp>(op);
  buffer.erase(0, 4 + std::size_t{length});
  return std::optional<RankMessage>(std::move(message));
}

}  // namespace muster::wire
