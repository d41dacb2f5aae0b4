// SPDX-License-Identifier: Apache-2.0
// What the judges of a mesh share: the rows, and the findings so far. For
// mesh_findings.cc and the judges it calls.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "finding/finding.h"
#include "muster/cluster.h"
#include "netcheck/diagnosis/path_faults.h"
#include "netcheck/mesh/mesh.h"

namespace muster::netcheck {

// Facts of one finding.
inline constexpr std::size_t kMaxEvidence = 4;

// Everything that a judgement looks at.
struct MeshCase {
  const Cluster& cluster;
  const std::map<int, MeshRow>& rows;
  WallTime at{};
  std::vector<Finding> findings;

  bool alone() const { return rows.size() == 1; }
  // nullptr: nobody tried it, or said so.
  const PathResult* Find(int from, const MeshTarget& to) const;
};

// "rank 1 (10.0.0.7:8476)"; -1: "this host", which is no member.
std::string NameOf(const Cluster& cluster, int rank);
// "rank 1 (a:1), rank 2 (b:1) and 5 more".
std::string NamesOf(const Cluster& cluster, const std::set<int>& ranks);

Fact Seen(const MeshCase& one, std::string text, std::string by);
void Add(MeshCase& one, Cause cause, std::string what, Confidence confidence,
         const std::vector<Fact>& facts, const std::set<int>& named);

// Who has another value than most. Of two that are as many, nobody can say
// which is right.
std::set<int> OddOnes(const std::map<std::string, std::set<int>>& by_value);

// Of at least one value.
Duration Median(std::vector<Duration> values);

}  // namespace muster::netcheck
