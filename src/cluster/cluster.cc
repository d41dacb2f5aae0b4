// SPDX-License-Identifier: Apache-2.0
#include "muster/cluster.h"

#include <algorithm>

namespace muster {

std::map<std::string, std::vector<std::string>> Cluster::Spec() const {
  std::map<std::string, std::vector<std::string>> spec;
  for (const Member& member : members) {
    auto& addresses = spec[member.task];
    const auto index = static_cast<std::size_t>(std::max(member.index, 0));
    if (addresses.size() <= index) {
      addresses.resize(index + 1);
    }
    if (member.address) {
      addresses[index] = ToString(member.address->value);
    }
  }
  return spec;
}

std::vector<int> Cluster::OwnRanks() const {
  std::vector<int> ranks;
  const bool all = one_host || members.size() == 1;
  if (!all && !self) {
    return ranks;
  }
  const int node =
      all ? -1 : members[static_cast<std::size_t>(self->value)].node;
  for (const Member& member : members) {
    const bool own =
        node < 0 ? self && member.rank == self->value : member.node == node;
    if (all || own) {
      ranks.push_back(member.rank);
    }
  }
  return ranks;
}

int Cluster::WorldSize() const {
  return static_cast<int>(
      std::count_if(members.begin(), members.end(), Trains));
}

bool Trains(const Member& member) {
  return member.task != "ps" && member.task != "evaluator";
}

std::string Name(const Member& member) {
  const std::string rank = "rank " + std::to_string(member.rank);
  return member.address ? rank + " (" + ToString(member.address->value) + ")"
                        : rank;
}

}  // namespace muster
