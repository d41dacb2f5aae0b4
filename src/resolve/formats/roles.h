// SPDX-License-Identifier: Apache-2.0
// What TensorFlow's Estimator concludes of a task's place in the map of tasks.
#pragma once

#include <optional>
#include <string>

#include "resolve/formats/task_map.h"

namespace muster::resolve {

// What Estimator's RunConfig concludes; the checks are its own.
struct EstimatorRole {
  bool is_chief = false;
  int num_workers = 0;
  int num_ps = 0;
  std::optional<int> global_id;  // absent: an evaluator is not of the cluster
};
Result<EstimatorRole> EstimatorRoleOf(const TaskMap& map,
                                      const std::optional<std::string>& type,
                                      std::optional<int> index);

}  // namespace muster::resolve
