// SPDX-License-Identifier: Apache-2.0
// Which member tries which. Pure.
//
// Up to 64 members each tries all others. Above that member i tries i ± 2^k
// around the ring for all k, and everybody tries rank 0 and is tried by it,
// which the run needs anyway: 2 log2(N) + 1 each, all for rank 0. Every member
// is tried by as many, and any two halves have paths between them in both
// directions.
#pragma once

#include <vector>

#include "netcheck/mesh/mesh.h"

namespace muster::netcheck {

inline constexpr int kMostForEveryPair = 64;

// Targets that `self` tries, of all; a self of -1 looks at all of them.
std::vector<MeshTarget> Schedule(const std::vector<MeshTarget>& targets,
                                 int members, int self);

}  // namespace muster::netcheck
