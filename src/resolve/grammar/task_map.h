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
  Result<const Tasks*> Job(const std::string& job) const;
  Result<std::string> AddressOf(const std::string& job, int index) const;
  // One job with one place, or none at all.
  bool IsOneTask() const;
};

// {"job": ["host:port", …] or {"index": "host:port"}}; `place` is what the
// value is called in messages ("TF_CONFIG.cluster").
Result<TaskMap> TaskMapFromJson(const Json& json, const std::string& place);
// Lists where there are no holes, else maps from index to address.
Json ToJson(const TaskMap& map);

// A list of one job, in order.
TaskMap::Tasks ToTasks(const std::vector<std::string>& addresses);

// Several sources as one: lists of a job are joined, maps are merged; an index
// that two of them have is an error. `sparse[i]` tells which jobs of map i were
// written as maps.
struct WrittenMap {
  TaskMap map;
  std::map<std::string, bool> sparse;
};
Result<TaskMap> UniteTaskMaps(const std::vector<WrittenMap>& maps);

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

// Address with the scheme of the RPC layer, if there is one.
std::string MasterUrl(const std::string& address, const std::string& rpc_layer);

}  // namespace muster::resolve
