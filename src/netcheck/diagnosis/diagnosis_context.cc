// SPDX-License-Identifier: Apache-2.0
#include "netcheck/diagnosis/diagnosis_context.h"

#include <algorithm>

#include "base/text.h"

namespace muster::netcheck {

const PathResult* MeshCase::Find(int from, const MeshTarget& to) const {
  const auto row = rows.find(from);
  if (row == rows.end()) {
    return nullptr;
  }
  const auto path = row->second.paths.find(to);
  return path == row->second.paths.end() ? nullptr : &path->second;
}

std::string NameOf(const Cluster& cluster, int rank) {
  return rank < 0
             ? "this host"
             : muster::Name(cluster.members.at(static_cast<std::size_t>(rank)));
}

std::string NamesOf(const Cluster& cluster, const std::set<int>& ranks) {
  std::vector<std::string> names;
  names.reserve(ranks.size());
  for (const int rank : ranks) {
    names.push_back(NameOf(cluster, rank));
  }
  // Four are told; of more, as many as leave at least two to count.
  return JoinSome(names, names.size() > 4 ? 3 : 4);
}

Fact Seen(const MeshCase& one, std::string text, std::string by) {
  return {.name = "mesh.seen",
          .fields = {{"text", std::move(text)}},
          .by = std::move(by),
          .at = one.at};
}

void Add(MeshCase& one, Cause cause, std::string what, Confidence confidence,
         const std::vector<Fact>& facts, const std::set<int>& named) {
  Finding finding = MakeFinding(cause, std::move(what), confidence, facts);
  for (const int rank : named) {
    finding.subjects.push_back(rank < 0 ? "this host"
                                        : "rank " + std::to_string(rank));
  }
  one.findings.push_back(std::move(finding));
}

std::set<int> OddOnes(const std::map<std::string, std::set<int>>& by_value) {
  std::size_t most = 0, as_many = 0;
  for (const auto& [value, ranks] : by_value) {
    as_many = ranks.size() == most ? as_many + 1 : as_many;
    if (ranks.size() > most) {
      most = ranks.size();
      as_many = 1;
    }
  }
  std::set<int> odd;
  for (const auto& [value, ranks] : by_value) {
    if (ranks.size() < most || as_many > 1) {
      odd.insert(ranks.begin(), ranks.end());
    }
  }
  return odd;
}

Duration Median(std::vector<Duration> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace muster::netcheck
