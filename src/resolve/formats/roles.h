// SPDX-License-Identifier: Apache-2.0
// What TensorFlow concludes of a task's place in the map of tasks.
#pragma once

#include <optional>
#include <string>

#include "resolve/formats/task_map.h"

namespace muster::resolve {

// What multi-worker strategies conclude of a task's place in the map.
struct Role {
  bool is_chief = false;
  std::optional<int> id_in_cluster;  // absent: ps has none
  std::optional<int> worker_count;   // absent for ps
  std::string leader;                // "" when there is none
};
Result<Role> RoleOf(const TaskMap& map, const std::string& type, int index);

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
