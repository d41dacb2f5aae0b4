// SPDX-License-Identifier: Apache-2.0
// What TensorFlow's multi-worker strategies conclude of a task's place in the
// map of tasks.
#pragma once

#include <optional>
#include <string>

#include "resolve/formats/task_map.h"

namespace muster::conformance {

struct Role {
  bool is_chief = false;
  std::optional<int> id_in_cluster;  // absent: ps has none
  std::optional<int> worker_count;   // absent for ps
  std::string leader;                // "" when there is none
};
Result<Role> RoleOf(const resolve::TaskMap& map, const std::string& type,
                    int index);

}  // namespace muster::conformance
