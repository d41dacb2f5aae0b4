// SPDX-License-Identifier: Apache-2.0
// The map from jobs to addresses that TensorFlow calls a ClusterSpec: jobs have
// tasks by index, with holes allowed. Pure; errors are cluster-spec-invalid and
// name the job and the index.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "muster/error.h"

namespace muster::resolve {

struct TaskMap {
  using Tasks = std::map<int, std::string>;  // index -> address as written
  std::map<std::string, Tasks> jobs;

  bool operator==(const TaskMap&) const = default;

  // How many places a job has: the highest index and one more.
  static int Places(const Tasks& tasks);
  // One job with one place, or none at all.
  bool IsOneTask() const;
  // "chief, worker", made safe for a terminal; "none".
  std::string JobNames() const;
};

// {"job": ["host:port", …] or {"index": "host:port"}}; `place` is what the
// value is called in messages ("TF_CONFIG.cluster").
Result<TaskMap> TaskMapFromJson(const Json& json, const std::string& place);
// Lists where there are no holes, else maps from index to address.
Json ToJson(const TaskMap& map);

// A list of one job, in order.
TaskMap::Tasks ToTasks(const std::vector<std::string>& addresses);

}  // namespace muster::resolve
