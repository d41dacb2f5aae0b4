// SPDX-License-Identifier: Apache-2.0
// Which links are measured when, so that none disturbs another. Pure.
#pragma once

#include <cstddef>
#include <list>
#include <set>
#include <utility>
#include <vector>

#include "muster/cluster.h"

namespace muster::netcheck {

using RankPair = std::pair<int, int>;  // the lower rank first

// The first rank of each host: links within a host are no network.
std::vector<int> RanksOfHosts(const Cluster& cluster);

// A tournament: rounds in which each of n ranks meets one other, so that after
// n - 1 of them (n, where n is odd) each has met all. Above 64 ranks only
// 2 log2(n) of the rounds, evenly spread: each rank meets as many others.
//
// One rank keeps its seat, all others move on by one seat a round; who sits
// opposite is met.
std::vector<std::vector<RankPair>> Tournament(std::vector<int> ranks);

// Pairs in the order in which they were given, as many at a time as have no
// rank in common.
class BandwidthPlan {
 public:
  explicit BandwidthPlan(std::vector<RankPair> pairs)
      : waiting_(pairs.begin(), pairs.end()) {}

  // Those that begin now.
  std::vector<RankPair> Next();
  void Ended(const RankPair& pair);
  // The rank is gone: its pairs that wait never begin. How many they are.
  std::size_t Drop(int rank);
  bool Over() const { return waiting_.empty() && running_.empty(); }
  const std::set<RankPair>& running() const { return running_; }

 private:
  std::list<RankPair> waiting_;
  std::set<RankPair> running_;
  std::set<int> busy_;
};

}  // namespace muster::netcheck
