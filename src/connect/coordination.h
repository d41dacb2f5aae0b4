// SPDX-License-Identifier: Apache-2.0
// Asks a coordination service, as TensorFlow and JAX start one on their leader,
// who has registered. Only calls that read: RegisterTask and Heartbeat would
// join the job, GetTaskState waits at JAX's until all are there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "connect/foreign.h"

namespace muster::connect {

// Two names of one service: XLA moved it in March 2026.
enum class Dialect { kTensorflow, kXla };

// Whether the service answers to a question for a key that nobody sets.
bool HasCoordination(Wire& wire, Dialect dialect);

// Tasks of the job as the leader sees them, by index; empty where it knows no
// such job, or does not lead. In XLA's dialect there is one job without a name.
std::vector<ForeignTask> TasksOfJob(Wire& wire, Dialect dialect,
                                    const std::string& job);

// "1 of 2 tasks connected, missing: task 1 of worker".
std::string TextOf(const std::vector<ForeignTask>& tasks);

}  // namespace muster::connect
