// SPDX-License-Identifier: Apache-2.0
#include "netcheck/bandwidth/bandwidth_plan.h"

#include <algorithm>
#include <bit>
#include <string>

#include "netcheck/mesh/schedule.h"

namespace muster::netcheck {

std::vector<int> RanksOfHosts(const Cluster& cluster) {
  std::set<std::string> seen;
  std::vector<int> ranks;
  for (const Member& member : cluster.members) {
    if (member.address && seen.insert(member.address->value.host).second) {
      ranks.push_back(member.rank);
    }
  }
  return ranks;
}

std::vector<std::vector<RankPair>> Tournament(std::vector<int> ranks) {
  const bool many = ranks.size() > kMaxForEveryPair;
  const std::size_t chosen = 2 * std::bit_width(ranks.size() - 1);
  if (ranks.size() % 2 != 0) {
    ranks.push_back(-1);  // who sits opposite rests
  }
  const std::size_t all = ranks.empty() ? 0 : ranks.size() - 1;
  std::vector<std::vector<RankPair>> rounds;
  std::size_t taken = 0;
  for (std::size_t round = 0; round < all; ++round) {
    // Of all rounds the ones at 0, all/chosen, 2 all/chosen, …
    if (!many || round * chosen >= taken * all) {
      ++taken;
      auto& pairs = rounds.emplace_back();
      for (std::size_t i = 0; i < ranks.size() / 2; ++i) {
        const auto [low, high] =
            std::minmax(ranks[i], ranks[ranks.size() - 1 - i]);
        if (low >= 0) {
          pairs.emplace_back(low, high);
        }
      }
    }
    std::rotate(ranks.begin() + 1, ranks.end() - 1, ranks.end());
  }
  return rounds;
}

std::vector<RankPair> BandwidthPlan::Next() {
  std::vector<RankPair> begin;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    if (busy_.count(at->first) > 0 || busy_.count(at->second) > 0) {
      ++at;
      continue;
    }
    busy_.insert({at->first, at->second});
    running_.insert(*at);
    begin.push_back(*at);
    at = waiting_.erase(at);
  }
  return begin;
}

void BandwidthPlan::Ended(const RankPair& pair) {
  if (running_.erase(pair) > 0) {
    busy_.erase(pair.first);
    busy_.erase(pair.second);
  }
}

std::size_t BandwidthPlan::Drop(int rank) {
  return std::erase_if(waiting_, [&](const RankPair& pair) {
    return pair.first == rank || pair.second == rank;
  });
}

}  // namespace muster::netcheck
