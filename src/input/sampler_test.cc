// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "muster/dataset.h"

namespace muster {
namespace {

Sampler Make(std::uint64_t size, std::uint64_t batch, std::uint64_t seed = 1,
             bool shuffle = true) {
  return Sampler::Make({.size = size,
                        .global_batch = batch,
                        .seed = seed,
                        .shuffle = shuffle})
      .value();
}

std::vector<std::uint64_t> Order(Sampler& sampler, std::uint64_t epoch,
                                 std::uint64_t size) {
  const auto order = sampler.Indices(epoch, {.count = size});
  return {order.begin(), order.end()};
}

// Changing the order would break every resumed run: these are its first
// numbers, for good.
TEST(Sampler, OrderIsFixedForAllTime) {
  Sampler sampler = Make(10, 4, 1);
  EXPECT_EQ(Order(sampler, 0, 10),
            (std::vector<std::uint64_t>{5, 6, 1, 8, 7, 4, 3, 9, 0, 2}));
}

TEST(Sampler, IsAPermutationOfItsOwnPerEpochAndSeed) {
  Sampler sampler = Make(1000, 64, 7);
  auto first = Order(sampler, 0, 1000);
  const auto second = Order(sampler, 1, 1000);
  Sampler other = Make(1000, 64, 8);
  EXPECT_NE(first, second);
  EXPECT_NE(first, Order(other, 0, 1000));
  EXPECT_EQ(first, Order(sampler, 0, 1000));
  std::sort(first.begin(), first.end());
  for (std::uint64_t i = 0; i < first.size(); ++i) {
    ASSERT_EQ(first[i], i);
  }
}

// Each sample lands on each place about equally often.
TEST(Sampler, ShufflesEvenly) {
  std::vector<int> at_place(16 * 16);
  Sampler sampler = Make(16, 16, 3);
  for (std::uint64_t epoch = 0; epoch < 4000; ++epoch) {
    const auto order = sampler.Indices(epoch, {.count = 16});
    for (std::size_t place = 0; place < 16; ++place) {
      ++at_place[order[place] * 16 + place];
    }
  }
  // 250 expected, standard deviation 15.3.
  EXPECT_THAT(at_place, testing::Each(testing::AllOf(testing::Gt(165),
                                                     testing::Lt(335))));
}

TEST(Sampler, KeepsTheOrderWithoutShuffling) {
  Sampler sampler = Make(5, 2, 1, false);
  EXPECT_THAT(Order(sampler, 3, 5), testing::ElementsAre(0, 1, 2, 3, 4));
}

TEST(Sampler, EpochsEndWithAPartialBatch) {
  const Sampler sampler = Make(10, 4);
  EXPECT_EQ(sampler.StepsPerEpoch(), 3U);
  EXPECT_EQ(sampler.At(8),
            (GlobalBatch{.position = 8, .first = 8, .count = 2}));
  EXPECT_EQ(sampler.At(10),
            (GlobalBatch{.position = 10, .epoch = 1, .count = 4}));
}

TEST(Sampler, GoesOnFromAnyPosition) {
  const Sampler sampler = Make(10, 4);
  EXPECT_EQ(sampler.At(13),
            (GlobalBatch{.position = 13, .epoch = 1, .first = 3, .count = 4}));
}

TEST(Sampler, ABatchLargerThanTheDatasetIsTheDataset) {
  const Sampler sampler = Make(3, 128);
  EXPECT_EQ(sampler.StepsPerEpoch(), 1U);
  EXPECT_EQ(sampler.At(3).count, 3U);
}

TEST(Sampler, RefusesNoSamplesAndNoBatch) {
  EXPECT_FALSE(Sampler::Make({.size = 0, .global_batch = 1}));
  EXPECT_FALSE(Sampler::Make({.size = 1, .global_batch = 0}));
}

// Whatever the number of ranks, their parts are the same global batch.
TEST(Share, PartsOfAllRanksMakeTheBatch) {
  for (const std::uint64_t count : {1ULL, 2ULL, 7ULL, 96ULL, 128ULL}) {
    const GlobalBatch batch{.first = 100, .count = count};
    for (int size = 1; size <= 9; ++size) {
      std::uint64_t next = 100;
      for (int rank = 0; rank < size; ++rank) {
        const Share share = ShareOf(batch, {.rank = rank, .size = size});
        ASSERT_EQ(share.first, next);
        next += share.count;
        ASSERT_LE(share.count - count / static_cast<std::uint64_t>(size), 1U);
      }
      ASSERT_EQ(next, 100 + count);
    }
  }
}

TEST(Share, IsEmptyForTheLastRanksOfASmallBatch) {
  const GlobalBatch batch{.count = 2};
  EXPECT_EQ(ShareOf(batch, {.rank = 1, .size = 4}).count, 1U);
  EXPECT_EQ(ShareOf(batch, {.rank = 2, .size = 4}).count, 0U);
}

}  // namespace
}  // namespace muster
