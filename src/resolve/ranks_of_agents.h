// SPDX-License-Identifier: Apache-2.0
// How many ranks the agent of each member starts: -n with hosts or in the task
// of a launcher, slots of a host file, processes per node of torch's launcher.
#pragma once

#include <vector>

#include "resolve/claim.h"
#include "resolve/resolve.h"

namespace muster::resolve {

// Makes of a claim whose members are agents one whose members are ranks.
// cluster-spec-invalid: more ranks than a host takes, or fewer slots than -n
// asks for; usage-invalid: members that are tasks of their own cannot be
// several.
Status StartSeveral(const Request& request, Claim& claim);

// Where members share a host and the source does not count them: the place
// among them of this process.
void ConcludeLocalRank(Claim& claim);

// By rank, what stands for its machine before anybody was asked: equal where
// the source says that it is the same.
std::vector<std::string> MachinesByRank(const Claim& claim);

}  // namespace muster::resolve
