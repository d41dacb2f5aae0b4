// SPDX-License-Identifier: Apache-2.0
#include "wire/rank_frame.h"

#include "wire/frame.h"

namespace muster::wire {
namespace {

constexpr std::size_t kFixed = 1 + 8 + 8 + 4 + 4;

}  // namespace

std::string Encode(const RankMessage& message) {
  const std::size_t length = kFixed + message.key.size() + message.value.size();
  MUSTER_CHECK(length <= kMaxRankFrame);
  return FrameBuilder(static_cast<std::uint8_t>(message.op), length)
      .Number(static_cast<std::int64_t>(message.id))
      .Number(message.number)
      .Text(message.key)
      .Text(message.value)
      .Finish();
}

Result<std::optional<RankMessage>> TakeMessage(std::string& buffer) {
  MUSTER_ASSIGN(const auto frame,
                PeekFrame(buffer, {.least = kFixed, .most = kMaxRankFrame}));
  if (!frame) {
    return std::optional<RankMessage>();
  }
  RankMessage message;
  BodyReader body(frame->body);
  message.id = static_cast<std::uint64_t>(body.Number());
  message.number = body.Number();
  message.key = body.Text();
  message.value = body.Text();
  if (!body.Complete() || frame->kind == 0 ||
      frame->kind > static_cast<std::uint8_t>(RankOp::kAdd)) {
    return Error(Cause::kFileCorrupt,
                 "a frame of a rank is malformed (op " +
                     std::to_string(frame->kind) + ", " +
                     std::to_string(frame->body.size() + 1) + " bytes)");
  }
  message.op = static_cast<RankOp>(frame->kind);
  buffer.erase(0, frame->size);
  return std::optional<RankMessage>(std::move(message));
}

}  // namespace muster::wire
