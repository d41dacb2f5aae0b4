// SPDX-License-Identifier: Apache-2.0
// Programs are built here as XLA's messages are laid out; that real ones are
// read is shown by tests/system/program_verdict_test.py.
#include "pjrt/program/hlo.h"

#include <gtest/gtest.h>

#include "wire/proto_fields.h"

namespace muster::pjrt {
namespace {

using Numbers = std::vector<std::int64_t>;

std::string Packed(std::uint32_t number, const Numbers& numbers) {
  std::string bytes;
  for (std::int64_t one : numbers) {
    auto left = static_cast<std::uint64_t>(one);
    for (; left >= 0x80; left >>= 7) {
      bytes += static_cast<char>(0x80 | (left & 0x7F));
    }
    bytes += static_cast<char>(left);
  }
  return wire::BytesField(number, bytes);
}

constexpr std::uint64_t kF32 = 11, kBf16 = 16;

// Row major, in tiles, in a memory (0: HBM).
std::string ShapeOf(std::uint64_t element, const Numbers& sides,
                    const std::vector<Numbers>& tiles = {},
                    std::uint64_t space = 0) {
  Numbers minor;
  for (std::size_t i = sides.size(); i > 0; --i) {
    minor.push_back(static_cast<std::int64_t>(i - 1));
  }
  std::string layout = Packed(1, minor);
  for (const Numbers& tile : tiles) {
    layout += wire::BytesField(6, Packed(1, tile));
  }
  layout += wire::NumberField(8, space);
  return wire::NumberField(2, element) + Packed(3, sides) +
         wire::BytesField(5, layout);
}

std::string TupleOf(const std::vector<std::string>& parts) {
  std::string shape = wire::NumberField(2, 13);
  for (const std::string& part : parts) {
    shape += wire::BytesField(4, part);
  }
  return shape;
}

struct Line {
  std::uint64_t id;
  std::string opcode, shape;
  std::string metadata;
  Numbers called;
  Numbers operands = {};
};

std::string ComputationOf(std::uint64_t id, std::uint64_t root,
                          const std::vector<Line>& lines) {
  std::string bytes;
  for (const Line& line : lines) {
    bytes += wire::BytesField(
        2, wire::BytesField(1, line.opcode + ".1") +
               wire::BytesField(2, line.opcode) +
               wire::BytesField(3, line.shape) +
               wire::BytesField(7, line.metadata) +
               wire::NumberField(9, line.id) + wire::NumberField(35, line.id) +
               Packed(36, line.operands) + Packed(38, line.called));
  }
  return wire::BytesField(
      3, bytes + wire::NumberField(5, id) + wire::NumberField(6, root));
}

// Computation 1 is the entry.
std::string ProgramOf(const std::string& computations) {
  return wire::BytesField(1, computations + wire::NumberField(6, 1));
}

// What a program of one argument of this shape holds.
Array OnlyArgument(const std::string& shape) {
  const auto holdings = ReadHoldings(
      ProgramOf(ComputationOf(1, 9, {{0, "parameter", shape, "", {}}})));
  EXPECT_TRUE(holdings) << holdings.error().ToText();
  EXPECT_EQ(holdings->largest.size(), 1U);
  return holdings->largest.front();
}

struct TileCase {
  std::string shape, text;
  std::int64_t bytes, padding;
};

class Tiles : public testing::TestWithParam<TileCase> {};

TEST_P(Tiles, GiveTheSizeInMemory) {
  const Array array = OnlyArgument(GetParam().shape);
  EXPECT_EQ(array.shape, GetParam().text);
  EXPECT_EQ(array.bytes, GetParam().bytes);
  EXPECT_EQ(array.padding, GetParam().padding);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Tiles,
    testing::Values(
        TileCase{ShapeOf(kF32, {784, 1000}, {{8, 128}}), "f32[784,1000]",
                 784 * 1024 * 4, 784 * 24 * 4},
        TileCase{ShapeOf(kF32, {3, 20000}, {{4, 128}}), "f32[3,20000]",
                 4 * 20096 * 4, 4 * 20096 * 4 - 60000 * 4},
        TileCase{ShapeOf(kF32, {5, 7, 1}, {{8, 128}}), "f32[5,7,1]",
                 5 * 8 * 128 * 4, (5 * 8 * 128 - 35) * 4},
        TileCase{ShapeOf(kBf16, {10, 64}, {{8, 128}, {2, 1}}), "bf16[10,64]",
                 16 * 128 * 2, (16 * 128 - 640) * 2},
        TileCase{ShapeOf(kF32, {10}, {{1024}}), "f32[10]", 4096, 4056},
        TileCase{ShapeOf(kF32, {}, {{128}}), "f32[]", 512, 508},
        TileCase{ShapeOf(kF32, {0, 128}, {{8, 128}}), "f32[0,128]", 0, 0},
        TileCase{ShapeOf(kF32, {3, 5}), "f32[3,5]", 60, 0},
        TileCase{ShapeOf(21, {3, 5}), "s4[3,5]", 8, 0},
        // A side that is no plain block.
        TileCase{ShapeOf(kF32, {3, 5}, {{-1, 128}}), "f32[3,5]", 60, 0}));

TEST(Holdings, TellArgumentsOutputsAndValuesInside) {
  const std::string small = ShapeOf(kF32, {8, 128}, {{8, 128}});
  const std::string large = ShapeOf(kF32, {16, 128}, {{8, 128}});
  const std::string named = wire::BytesField(2, "params['w']");
  const std::string there = wire::BytesField(2, "jit(step)/dot_general") +
                            wire::BytesField(3, "/home/me/train.py") +
                            wire::NumberField(4, 12);
  const auto holdings = ReadHoldings(ProgramOf(
      ComputationOf(1, 4,
                    {{0, "parameter", small, named, {}},
                     {1, "parameter", small, "", {}},
                     {2, "fusion", large, there, {}},
                     {3, "bitcast", large, "", {}},
                     {4, "tuple", TupleOf({small, large}), "", {}}})));
  ASSERT_TRUE(holdings) << holdings.error().ToText();
  ASSERT_EQ(holdings->largest.size(), 4U);
  EXPECT_EQ(holdings->bytes, 3 * 4096 + 8192);
  for (const Array& one : holdings->largest) {
    if (one.role == Role::kArgument) {
      EXPECT_EQ(one.name, "params['w']");
      EXPECT_EQ(one.count, 2);
    } else if (one.role == Role::kInside) {
      EXPECT_EQ(one.name, "jit(step)/dot_general");
      EXPECT_EQ(one.place, "train.py:12");
    }
  }
  EXPECT_EQ(holdings->largest.back().name, "output 0");
}

TEST(Holdings, CountAResultThatIsAnOutputOnce) {
  const std::string array = ShapeOf(kF32, {8, 128}, {{8, 128}});
  const auto holdings = ReadHoldings(ProgramOf(ComputationOf(
      1, 4,
      {{0, "parameter", array, wire::BytesField(2, "Arg_0.1"), {}},
       {1, "fusion", array, "", {}, {0}},
       {2, "bitcast", array, "", {}, {1}},
       {4, "tuple", TupleOf({array, array}), "", {}, {2, 0}}})));
  ASSERT_TRUE(holdings) << holdings.error().ToText();
  ASSERT_EQ(holdings->largest.size(), 2U);
  EXPECT_EQ(holdings->largest[0].name, "argument 0");
  EXPECT_EQ(holdings->largest[0].count, 1);
  EXPECT_EQ(holdings->largest[1].role, Role::kOutput);
  EXPECT_EQ(holdings->largest[1].count, 2);
}

TEST(Holdings, FollowLoopsOnceAndLeaveOutOtherMemories) {
  const std::string array = ShapeOf(kF32, {8, 128}, {{8, 128}});
  const std::string near = ShapeOf(kF32, {800, 128}, {{8, 128}}, 1);
  const auto holdings = ReadHoldings(
      ProgramOf(ComputationOf(1, 9,
                              {{1, "while", TupleOf({array}), "", {2}},
                               {2, "call", TupleOf({array}), "", {2}},
                               {3, "fusion", near, "", {}},
                               {4, "copy-start", TupleOf({array}), "", {}}}) +
                ComputationOf(2, 2,
                              {{1, "parameter", array, "", {}},
                               {2, "fusion", array, "", {1, 2}},
                               {3, "call", TupleOf({array}), "", {1, 2}}})));
  ASSERT_TRUE(holdings) << holdings.error().ToText();
  // The loop's fusion; computation 1 is the entry, and no part of itself.
  ASSERT_EQ(holdings->largest.size(), 1U);
  EXPECT_EQ(holdings->largest[0].role, Role::kInside);
  EXPECT_EQ(holdings->largest[0].name, "fusion.1");
  EXPECT_EQ(holdings->largest[0].count, 1);
}

TEST(Holdings, FindTheLineByTheStack) {
  const std::string frames = wire::BytesField(
      17, wire::BytesField(1, "-") + wire::BytesField(1, "/a/b.py") +
              wire::BytesField(
                  3, wire::NumberField(1, 1) + wire::NumberField(3, 7)) +
              wire::BytesField(
                  3, wire::NumberField(1, 2) + wire::NumberField(3, 9)) +
              wire::BytesField(4, wire::NumberField(1, 1)) +
              wire::BytesField(4, wire::NumberField(1, 2)));
  for (const auto& [frame, place] :
       std::vector<std::pair<std::uint64_t, std::string>>{
           {1, "line 7"}, {2, "b.py:9"}, {3, ""}}) {
    const auto holdings =
        ReadHoldings(ProgramOf(ComputationOf(1, 9,
                                             {{1,
                                               "fusion",
                                               ShapeOf(kF32, {4}),
                                               wire::NumberField(15, frame),
                                               {}}}) +
                               frames));
    ASSERT_TRUE(holdings);
    EXPECT_EQ(holdings->largest.front().place, place);
  }
}

TEST(Holdings, AreRefusedWhereThereIsNoProgram) {
  for (const std::string& bytes :
       {std::string(), std::string("\xFF\xFF"), ProgramOf(""),
        ProgramOf(ComputationOf(
            1, 9,
            {{0, "parameter", ShapeOf(kF32, {1LL << 40, 1LL << 40}), "", {}}})),
        ProgramOf(ComputationOf(
            1, 9, {{0, "parameter", ShapeOf(kF32, {-3}), "", {}}}))}) {
    const auto holdings = ReadHoldings(bytes);
    ASSERT_FALSE(holdings);
    EXPECT_EQ(holdings.error().cause(), Cause::kFileCorrupt);
  }
}

}  // namespace
}  // namespace muster::pjrt
