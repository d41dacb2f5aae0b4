// SPDX-License-Identifier: Apache-2.0
// What the rows of a mesh say: findings, one per root, and the matrix. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "finding/finding.h"
#include "muster/cluster.h"
#include "netcheck/mesh/mesh.h"

namespace muster::netcheck {

struct MeshFindings {
  std::vector<Finding> findings;
  std::string detail;              // "12 of 12 paths work, 0.21 ms"
  std::vector<std::string> lines;  // the matrix, folded where it is wide
};

// Members that nobody heard of are no fault as long as only one row is there
// and their hosts refuse: they are not started.
MeshFindings JudgeMesh(const Cluster& cluster,
                       const std::map<int, MeshRow>& rows, WallTime at);

// In place of the catalog's fixes where a port is kept for root.
void SetWayOut(Cause cause, std::uint16_t port, Finding& finding);

// The paths for programs: [{"from", "to", "port", "path", …}]. Of more than
// 1,024 those that are well are left out.
Json PathsToJson(const std::map<int, MeshRow>& rows);

}  // namespace muster::netcheck
