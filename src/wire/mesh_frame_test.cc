// SPDX-License-Identifier: Apache-2.0
#include "wire/mesh_frame.h"

#include <gtest/gtest.h>

#include <random>

namespace muster::wire {
namespace {

TEST(MeshFrame, ComesOutAsItWentInByteByByte) {
  FrameWriter writer(PlainSigner(), true);
  FrameReader reader(PlainSigner(), true);
  std::string bytes = writer.Write({.kind = FrameKind::kHello, .body = "one"});
  bytes +=
      writer.Write({.kind = FrameKind::kLarge, .body = std::string(9, '\0')});
  std::vector<Frame> frames;
  for (const char byte : bytes) {
    reader.buffer().push_back(byte);
    auto frame = reader.Take();
    ASSERT_TRUE(frame) << frame.error().ToString();
    if (*frame) {
      frames.push_back(**frame);
    }
  }
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].body, "one");
  EXPECT_EQ(frames[1].body.size(), 9U);
}

// What must not be taken: how the reader differs from the writer.
struct Difference {
  const char* name;
  const char* key;
  const char* salt;
  bool dialler;
};

Signer Keyed(const std::string& key) {
  return [key, plain = PlainSigner()](std::string_view message) {
    return plain(key + std::string(message));
  };
}

class MeshFrameOfAnother : public testing::TestWithParam<Difference> {};

TEST_P(MeshFrameOfAnother, IsRefused) {
  FrameWriter writer(Keyed("k"), true);
  writer.set_salt("s");
  FrameReader reader(Keyed(GetParam().key), GetParam().dialler);
  reader.set_salt(GetParam().salt);
  reader.buffer() = writer.Write({.kind = FrameKind::kRow, .body = "row"});
  EXPECT_FALSE(reader.Take());
  EXPECT_TRUE(reader.bad_signature());
}

INSTANTIATE_TEST_SUITE_P(All, MeshFrameOfAnother,
                         testing::Values(Difference{"key", "other", "s", true},
                                         Difference{"salt", "k", "t", true},
                                         Difference{"direction", "k", "s",
                                                    false}),
                         [](const auto& one) { return one.param.name; });

TEST(MeshFrame, IsTakenOnce) {
  FrameWriter writer(PlainSigner(), true);
  FrameReader reader(PlainSigner(), true);
  const std::string bytes = writer.Write({.kind = FrameKind::kDone});
  reader.buffer() = bytes + bytes;
  EXPECT_TRUE(reader.Take());
  EXPECT_FALSE(reader.Take()) << "a repeated frame";
}

TEST(MeshFrame, OfImpossibleSizeIsRefusedAtItsHead) {
  FrameReader reader(PlainSigner(), true);
  reader.buffer() = std::string("MUSF\xFF\xFF\xFF\x7F\x06", 9);
  EXPECT_FALSE(reader.Take());
  EXPECT_FALSE(reader.bad_signature());
}

TEST(MeshFrame, OfACallerIsSmallUntilOneIsSigned) {
  const std::string large(kMaxHelloBody + 1, 'x');
  FrameWriter writer(PlainSigner(), true);
  FrameReader reader(PlainSigner(), true);
  FrameReader unknown(PlainSigner(), true);
  const std::string hello = writer.Write(
      {.kind = FrameKind::kHello, .body = std::string(kMaxHelloBody, 'x')});
  const std::string row =
      writer.Write({.kind = FrameKind::kRow, .body = large});
  reader.buffer() = hello + row;
  EXPECT_TRUE(reader.Take());
  const auto second = reader.Take();
  ASSERT_TRUE(second && *second) << "large, of one that is known";
  unknown.buffer() = row.substr(0, 8);
  EXPECT_FALSE(unknown.Take()) << "refused at its head";
}

TEST(MeshFrame, OfAListenerMayBringTheMemberList) {
  FrameWriter writer(PlainSigner(), false);
  FrameReader reader(PlainSigner(), false);
  reader.buffer() = writer.Write(
      {.kind = FrameKind::kWelcome, .body = std::string(1 << 20, 'x')});
  const auto welcome = reader.Take();
  EXPECT_TRUE(welcome && *welcome);
}

TEST(MeshFrame, GarbageIsNoFrame) {
  std::mt19937 random(7);
  for (int i = 0; i < 1000; ++i) {
    FrameReader reader(PlainSigner(), true);
    for (int n = 0; n < 64; ++n) {
      reader.buffer().push_back(static_cast<char>(random()));
    }
    EXPECT_FALSE(reader.Take()) << i;
  }
}

}  // namespace
}  // namespace muster::wire
