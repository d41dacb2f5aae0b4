// SPDX-License-Identifier: Apache-2.0
// Parts of the source "slurm" that have files of their own.
#pragma once

#include <string>
#include <vector>

#include "resolve/resolve.h"

namespace muster::resolve {

// Only srun makes steps; a batch script runs as task 0 of the allocation.
bool IsSlurmStep(const sys::Env& env);

// The host of every task, by rank: in the order of SLURM_HOSTFILE where the
// distribution is arbitrary, else filled by SLURM_STEP_TASKS_PER_NODE (block),
// or dealt in turn (cyclic). Empty when nothing tells how many run where. Says
// in claim.remarks when the counts do not fit.
Result<std::vector<std::string>> PlaceTasks(
    const std::vector<std::string>& hosts, int tasks, const sys::Host& host,
    Claim& claim);

// What TensorFlow's SlurmClusterResolver makes of a step, with Slurm's order of
// hosts.
Result<Claim> ReadTensorflowStep(const sys::Host& host);

}  // namespace muster::resolve
