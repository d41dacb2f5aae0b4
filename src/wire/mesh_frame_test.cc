// SPDX-License-Identifier: Apache-2.0
#include "wire/mesh_frame.h"

#include <gtest/gtest.h>

#include <random>

#include "base/json.h"
#include "netcheck/mesh/mesh.h"

namespace muster::connect {
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
    ASSERT_TRUE(frame) << frame.error().ToText();
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
  reader.buffer() = std::string("MUSF\x06\x7F\xFF\xFF\xFF", 9);
  EXPECT_FALSE(reader.Take());
  EXPECT_FALSE(reader.bad_signature());
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

TEST(MeshRow, SurvivesItsJson) {
  MeshRow row{.rank = 3,
              .host = "w-3",
              .pid = 7,
              .version = "0.1.0",
              .taken = {{8476, "by x"}},
              .other_lists = {{"host b, pid 1", "nothing"}},
              .heard = {0, 2},
              .versions = {{"jax", "0.5.1"}},
              .final = true};
  row.claims[1] = {"host a, pid 1", "host b, pid 2"};
  row.paths[{1, 8476}] = {.path = Path::kNoAnswer,
                          .round_trip = std::chrono::microseconds(42),
                          .tries = 4,
                          .before = Path::kRefused,
                          .seen = "ETIMEDOUT",
                          .number = "10.0.0.2:8476",
                          .answered_as = 2,
                          .sign_of_life = "port 22 is open",
                          .neighbour = std::string(kAnswersArp)};
  const auto back = MeshRowFromJson(ToJson(row));
  ASSERT_TRUE(back) << back.error().ToText();
  EXPECT_EQ(*back, row);
}

TEST(MeshRow, TellsPathsThatWereWellAtOnceInFourNumbers) {
  MeshRow row{.rank = 3};
  PathResult& path = row.paths[{1, 8476}];
  path = {.path = Path::kOk,
          .round_trip = std::chrono::microseconds(42),
          .tries = 1,
          .answered_as = 1,
          .clock_ahead = std::chrono::microseconds(-7)};
  const Json json = ToJson(row);
  EXPECT_EQ(json["well"].dump(), "[[1,8476,42,-7]]");
  EXPECT_EQ(MeshRowFromJson(json).value(), row);
  path.tries = 2;
  EXPECT_EQ(ToJson(row)["well"].size(), 0U);
}

TEST(MeshRow, RefusesPathsOfAnotherForm) {
  for (const char* well : {"[[1,2,3]]", "[7]", "[[1,2,3,\"x\"]]",
                           "[[-1,2,3,4]]", "[[1,70000,3,4]]", "[[1,2,-3,4]]"}) {
    Json json = ToJson(MeshRow{.rank = 1});
    json["well"] = Json::parse(well);
    const auto row = MeshRowFromJson(json);
    ASSERT_FALSE(row) << well;
    EXPECT_NE(row.error().message().find("`well`"), std::string::npos);
  }
}

TEST(MeshRow, NamesTheFieldThatIsWrong) {
  Json json = ToJson(MeshRow{.rank = 1});
  json["pid"] = "seven";
  const auto row = MeshRowFromJson(json);
  ASSERT_FALSE(row);
  EXPECT_NE(row.error().message().find("`pid`"), std::string::npos);
  EXPECT_FALSE(MeshRowFromJson(Json::array()));
}

}  // namespace
}  // namespace muster::connect
