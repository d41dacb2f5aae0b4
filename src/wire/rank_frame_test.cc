// SPDX-License-Identifier: Apache-2.0
#include "wire/rank_frame.h"

#include <gtest/gtest.h>

#include "wire/progress_page.h"

namespace muster::wire {
namespace {

const RankMessage kPut{.op = RankOp::kPut,
                       .id = 7,
                       .number = -1,
                       .key = "peer/0",
                       .value = std::string("\0\xff", 2)};

TEST(RankWire, TakesWhatWasEncoded) {
  std::string buffer = Encode(kPut) + Encode(kPut);
  EXPECT_EQ(**TakeMessage(buffer), kPut);
  EXPECT_EQ(**TakeMessage(buffer), kPut);
  EXPECT_TRUE(buffer.empty());
}

TEST(RankWire, WaitsForTheRestOfAFrame) {
  const std::string whole = Encode(kPut);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::string part = whole.substr(0, size);
    auto taken = TakeMessage(part);
    ASSERT_TRUE(taken) << size;
    EXPECT_FALSE(taken->has_value()) << size;
  }
}

TEST(RankWire, RefusesALengthNoFrameHas) {
  std::string tiny("\x01\0\0\0\x01", 5);
  EXPECT_EQ(TakeMessage(tiny).error().cause(), Cause::kFileCorrupt);
  std::string huge("\xff\xff\xff\xff", 4);
  EXPECT_EQ(TakeMessage(huge).error().cause(), Cause::kFileCorrupt);
}

TEST(RankWire, RefusesEveryCorruptByteOrReadsAMessage) {
  const std::string whole = Encode(kPut);
  for (std::size_t at = 4; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(~bytes[at]);
    auto taken = TakeMessage(bytes);
    EXPECT_TRUE(!taken || taken->has_value()) << at;
  }
}

TEST(Board, ReadsASlotAsPlainValues) {
  BoardSlot slot;
  slot.phase = static_cast<std::uint32_t>(Phase::kStep);
  slot.step = 12;
  slot.loss = 0.5;
  const RankProgress progress = ReadSlot(slot);
  EXPECT_EQ(progress.phase, Phase::kStep);
  EXPECT_EQ(progress.step, 12U);
  EXPECT_EQ(progress.loss, 0.5);
  slot.phase = 99;
  EXPECT_EQ(ReadSlot(slot).phase, Phase::kUnknown);
}

}  // namespace
}  // namespace muster::wire
