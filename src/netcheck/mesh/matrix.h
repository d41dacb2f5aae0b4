// SPDX-License-Identifier: Apache-2.0
// The matrix of a mesh as lines of text. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "muster/cluster.h"
#include "netcheck/mesh/mesh.h"

namespace muster::netcheck {

// A line per member that spoke, a column per target with its round trip in ms
// or a word for what was seen; with more than 9 targets only the rows and
// columns in which something is wrong, and none where all is well.
std::vector<std::string> Matrix(const Cluster& cluster,
                                const std::map<int, MeshRow>& rows);

}  // namespace muster::netcheck
