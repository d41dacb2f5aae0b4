// SPDX-License-Identifier: Apache-2.0
// What the answers at targets mean: few findings, one for each root. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "finding/finding.h"
#include "identify/target.h"
#include "muster/fact.h"

namespace muster::identify {

// Replicas that the workers make: their chips or GPUs, else one for each; of
// parameter servers and evaluators none.
int ReplicasOf(std::span<const TargetSeen> seen);
// "4 replicas: 2 workers, each 2 GPU".
std::string TextOfReplicas(std::span<const TargetSeen> seen);

// Nobody answers: net-name-resolution, net-timeout-filtered, net-wrong-endpoint
// (refused). Somebody else answers: net-wrong-endpoint. A server of gRPC that
// answers no call: heartbeat-missed, likely; one that this program cannot ask:
// net-wrong-endpoint, possible. A worker that restarts between two calls:
// peer-died; that is late in the second: heartbeat-missed, a warning.
std::vector<Finding> JudgeReach(std::span<const TargetSeen> seen, WallTime at);

// Tasks answer at each other's addresses: net-wrong-endpoint; two as one:
// duplicate-identity.
std::vector<Finding> JudgeTasks(std::span<const TargetSeen> seen, WallTime at);

// Fewer chips or GPUs than at other workers: device-missing. `replicas`, where
// a number is expected: rank-world-mismatch.
std::vector<Finding> JudgeInventory(std::span<const TargetSeen> seen,
                                    std::optional<int> replicas, WallTime at);

// All of these and, where nothing is found, a leader that waits for a task that
// answers all the same: rendezvous-timeout, a warning.
std::vector<Finding> JudgeTargets(std::span<const TargetSeen> seen,
                                  std::optional<int> replicas, WallTime at);

// One line for each: who answers where.
std::vector<std::string> LinesOf(std::span<const TargetSeen> seen);

}  // namespace muster::identify
