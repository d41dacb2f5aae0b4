// SPDX-License-Identifier: Apache-2.0
#include "netcheck/mesh/schedule.h"

#include <set>

namespace muster::netcheck {

std::vector<MeshTarget> Schedule(const std::vector<MeshTarget>& targets,
                                 int members, int self) {
  std::set<int> partners;
  if (self > 0 && members > kMostForEveryPair) {
    partners.insert(0);
    for (int jump = 1; jump <= members / 2; jump *= 2) {
      partners.insert((self + jump) % members);
      partners.insert((self - jump + members) % members);
    }
  }
  std::vector<MeshTarget> mine;
  for (const MeshTarget& target : targets) {
    if (target.rank != self &&
        (partners.empty() || partners.count(target.rank) > 0)) {
      mine.push_back(target);
    }
  }
  return mine;
}

}  // namespace muster::netcheck
