// SPDX-License-Identifier: Apache-2.0
// Asks a coordination service, as TensorFlow and JAX start one on their leader,
// who has registered. Only calls that read: RegisterTask and Heartbeat would
// join the job, GetTaskState waits at JAX's until all are there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "identify/service_probe.h"

namespace muster::identify {

// Two names of one service: XLA moved it in March 2026.
enum class Dialect { kTensorflow, kXla };

struct Coordination {
  Dialect dialect = Dialect::kTensorflow;
  // What questions in XLA's dialect have to begin with: the incarnation of the
  // service, which it tells to who does not know it.
  std::string preamble;
};

// The service, if it answers to a question for a key that nobody sets.
std::optional<Coordination> FindCoordination(Wire& wire, Dialect dialect);

// Tasks of the job as the leader sees them, by index; empty where it knows no
// such job, or does not lead. In XLA's dialect there is one job without a name.
std::vector<ForeignTask> TasksOfJob(Wire& wire, const Coordination& service,
                                    const std::string& job);

// "1 of 2 tasks connected, missing: task 1 of worker".
std::string TextOf(const std::vector<ForeignTask>& tasks);

}  // namespace muster::identify
