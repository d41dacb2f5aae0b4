// SPDX-License-Identifier: Apache-2.0
#include "collective/reduce.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace muster {
namespace {

template <typename T>
struct Ranks {
  std::vector<std::vector<T>> values;

  std::int32_t Sum(DType dtype, bool check = false) {
    std::vector<std::byte*> buffers;
    for (auto& rank : values) {
      buffers.push_back(reinterpret_cast<std::byte*>(rank.data()));
    }
    return SumToAll(
        buffers,
        {.dtype = dtype, .count = values[0].size(), .check_finite = check});
  }
};

TEST(SumToAll, AddsInRankOrderAndWritesToAll) {
  // (1e8 + 1) - 1e8 is 0 in float32, 1e8 - 1e8 + 1 is 1: the order shows.
  Ranks<float> ranks{{{1e8F, 1}, {1, 2}, {-1e8F, 3}}};
  EXPECT_EQ(ranks.Sum(DType::kFloat32), kAllFinite);
  for (const auto& rank : ranks.values) {
    EXPECT_EQ(rank, (std::vector<float>{0, 6}));
  }
}

TEST(SumToAll, SumsEveryBlock) {
  Ranks<double> ranks{
      {std::vector<double>(3001, 0.25), std::vector<double>(3001, 0.5)}};
  ranks.Sum(DType::kFloat64);
  EXPECT_EQ(ranks.values[1], std::vector<double>(3001, 0.75));
}

TEST(SumToAll, WrapsIntegersAndOrsTruthValues) {
  Ranks<std::int8_t> bytes{{{127, -128}, {1, -1}}};
  bytes.Sum(DType::kInt8);
  EXPECT_EQ(bytes.values[0], (std::vector<std::int8_t>{-128, 127}));
  Ranks<std::uint8_t> truth{{{1, 0, 1}, {1, 0, 0}}};
  truth.Sum(DType::kBool);
  EXPECT_EQ(truth.values[0], (std::vector<std::uint8_t>{1, 0, 1}));
  Ranks<std::int64_t> wide{{{INT64_MAX}, {1}}};
  wide.Sum(DType::kInt64);
  EXPECT_EQ(wide.values[0][0], INT64_MIN);
}

TEST(SumToAll, SumsBFloat16InFloat32AndRoundsOnce) {
  // 256 + 1 + 1: rounding after each step would lose both ones.
  Ranks<std::uint16_t> ranks{{{0x4380}, {0x3f80}, {0x3f80}}};
  ranks.Sum(DType::kBFloat16);
  EXPECT_EQ(ranks.values[0][0], 0x4381);
}

// Adding zero to a half must give it back: all 65,536 of them.
TEST(SumToAll, KeepsEveryFloat16) {
  Ranks<std::uint16_t> ranks{{{}, {}}};
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    ranks.values[0].push_back(static_cast<std::uint16_t>(bits));
  }
  const auto before = ranks.values[0];
  ranks.values[1].assign(before.size(), 0x8000);  // -0
  ranks.Sum(DType::kFloat16);
  for (std::size_t bits = 0; bits < before.size(); ++bits) {
    const bool nan = (bits & 0x7fff) > 0x7c00;
    const auto after = ranks.values[0][bits];
    ASSERT_TRUE(nan ? (after & 0x7fff) > 0x7c00 : after == before[bits])
        << std::hex << bits << " became " << after;
  }
}

TEST(SumToAll, RoundsFloat16TiesToEven) {
  // 2048 + 1 is a tie between 2048 and 2050; 2050 + 1 between 2050 and 2052.
  Ranks<std::uint16_t> ranks{
      {{0x6800, 0x6801, 0x7bff, 0x0001}, {0x3c00, 0x3c00, 0x7bff, 0x0001}}};
  ranks.Sum(DType::kFloat16);
  EXPECT_EQ(ranks.values[0],
            (std::vector<std::uint16_t>{0x6800, 0x6802, 0x7c00, 0x0002}));
}

TEST(SumToAll, NamesTheLowestRankThatIsNotFinite) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Ranks<float> ranks{{std::vector<float>(5000, 1), std::vector<float>(5000, 1),
                      std::vector<float>(5000, 1)}};
  ranks.values[2][10] = kNan;
  ranks.values[1][4999] = -kInfinity;
  EXPECT_EQ(ranks.Sum(DType::kFloat32, true), 1);
}

TEST(SumToAll, TellsASumThatOverflows) {
  constexpr float kMaxCount = std::numeric_limits<float>::max();
  Ranks<float> ranks{{{kMaxCount}, {kMaxCount}}};
  EXPECT_EQ(ranks.Sum(DType::kFloat32, true), 2);
  Ranks<std::uint16_t> halves{{{0x7bff}, {0x7bff}}};
  EXPECT_EQ(halves.Sum(DType::kFloat16, true), 2);
}

TEST(SumToAll, OnlyLooksAtABufferOfOneRank) {
  Ranks<double> ranks{{{1, std::nan(""), 3}}};
  EXPECT_EQ(ranks.Sum(DType::kFloat64, true), 0);
  EXPECT_EQ(ranks.values[0][2], 3);
}

TEST(PartOf, CoversEveryElementOnceInWholeLines) {
  for (const std::size_t count :
       {0UL, 1UL, 15UL, 16UL, 17UL, 1000UL, 65537UL}) {
    for (std::size_t size = 1; size <= 5; ++size) {
      std::size_t next = 0;
      for (std::size_t rank = 0; rank < size; ++rank) {
        const Stretch part = PartOf(DType::kFloat32, count, rank, size);
        ASSERT_EQ(part.first, next);
        ASSERT_TRUE(part.first % 16 == 0 || part.count == 0);
        next += part.count;
      }
      ASSERT_EQ(next, count);
    }
  }
}

}  // namespace
}  // namespace muster
