// SPDX-License-Identifier: Apache-2.0
#include "netcheck/bandwidth/bandwidth_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

namespace muster::netcheck {
namespace {

std::vector<int> Ranks(int count) {
  std::vector<int> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

TEST(Tournament, EveryPairMeetsOnceAndNobodyTwiceInARound) {
  for (const int count : {2, 3, 4, 7, 8, 33, 64}) {
    std::set<RankPair> met;
    const auto rounds = Tournament(Ranks(count));
    EXPECT_EQ(rounds.size(), static_cast<std::size_t>(count - 1 + count % 2));
    for (const auto& round : rounds) {
      std::set<int> seen;
      for (const RankPair& pair : round) {
        EXPECT_LT(pair.first, pair.second);
        EXPECT_TRUE(seen.insert(pair.first).second);
        EXPECT_TRUE(seen.insert(pair.second).second);
        EXPECT_TRUE(met.insert(pair).second) << "twice among " << count;
      }
    }
    EXPECT_EQ(met.size(), static_cast<std::size_t>(count * (count - 1) / 2));
  }
}

TEST(Tournament, OfManyEachMeetsAsManyOthers) {
  std::map<int, int> meetings;
  for (const auto& round : Tournament(Ranks(128))) {
    for (const RankPair& pair : round) {
      ++meetings[pair.first];
      ++meetings[pair.second];
    }
  }
  EXPECT_EQ(meetings.size(), 128U);
  for (const auto& [rank, count] : meetings) {
    EXPECT_EQ(count, 14) << "rank " << rank;
  }
}

TEST(Tournament, OneOrNobodyMeetsNobody) {
  EXPECT_TRUE(Tournament({}).empty());
  for (const auto& round : Tournament({5})) {
    EXPECT_TRUE(round.empty());
  }
}

TEST(RanksOfHosts, TakesTheFirstRankOfEachHost) {
  Cluster cluster;
  for (const char* host : {"a", "a", "b", "a", "c"}) {
    Member member{.rank = static_cast<int>(cluster.members.size())};
    member.address = {Address{host, 1}, "test"};
    cluster.members.push_back(member);
  }
  EXPECT_EQ(RanksOfHosts(cluster), (std::vector<int>{0, 2, 4}));
}

TEST(BandwidthPlan, PairsThatRunHaveNoRankInCommon) {
  BandwidthPlan plan({{0, 1}, {0, 2}, {2, 3}, {1, 3}});
  EXPECT_EQ(plan.Next(), (std::vector<RankPair>{{0, 1}, {2, 3}}));
  EXPECT_TRUE(plan.Next().empty());
  plan.Ended({0, 1});
  EXPECT_TRUE(plan.Next().empty()) << "2 and 3 are still at it";
  plan.Ended({2, 3});
  EXPECT_EQ(plan.Next(), (std::vector<RankPair>{{0, 2}, {1, 3}}));
  EXPECT_FALSE(plan.Over());
}

TEST(BandwidthPlan, WhoIsGoneIsNotWaitedFor) {
  BandwidthPlan plan({{0, 1}, {0, 2}, {1, 2}});
  plan.Next();
  EXPECT_EQ(plan.Drop(2), 2U);
  plan.Ended({0, 1});
  EXPECT_TRUE(plan.Over());
}

TEST(BandwidthPlan, WhatDidNotRunCannotEnd) {
  BandwidthPlan plan({{0, 1}, {0, 2}});
  plan.Next();
  plan.Ended({0, 2});
  EXPECT_TRUE(plan.Next().empty());
}

}  // namespace
}  // namespace muster::netcheck
