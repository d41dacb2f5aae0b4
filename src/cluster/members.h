// SPDX-License-Identifier: Apache-2.0
// Rules that every source of a cluster shares: how members are numbered, what
// contradicts itself, and whether two clusters are the same one.
#pragma once

#include <string>
#include <vector>

#include "muster/cluster.h"
#include "muster/error.h"

namespace muster {

// Sorts members into rank order (chief or master, workers, other tasks by
// name, ps last; by index within a task) and numbers them 0, 1, 2, …
void AssignRanks(std::vector<Member>& members);

// What no cluster may be, whatever it was read from. cluster-spec-invalid: no
// member. rank-world-mismatch: the size differs from the number of members, the
// ranks have a hole, or the own rank is not among them. duplicate-identity: two
// members with one rank, one place (task and index) or one address. The message
// names the values with their sources.
Status CheckMembers(const Cluster& cluster);

// A member as one line: "worker 1 at 10.0.0.7:8476", or "worker 1".
std::string Place(const Member& member);

// A digest of the members: equal on all hosts that were told the same cluster.
// Addresses count only when all members have one, because a source that tells
// the coordinator's alone (MASTER_ADDR) may spell it differently on each host.
std::string ClusterKey(const Cluster& cluster);

}  // namespace muster
