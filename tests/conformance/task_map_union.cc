// SPDX-License-Identifier: Apache-2.0
#include "task_map_union.h"

#include <algorithm>

#include "base/text.h"

namespace muster::conformance {
namespace {

Status UniteJob(const std::string& job, const TaskMap::Tasks& tasks,
                bool as_list, TaskMap& united) {
  auto& all = united.jobs[job];
  if (as_list) {
    int next = TaskMap::Places(all);
    for (const auto& [index, address] : tasks) {
      all[next++] = address;
    }
    return Ok();
  }
  for (const auto& [index, address] : tasks) {
    if (const auto [place, added] = all.emplace(index, address); !added) {
      return Error(Cause::kClusterSpecInvalid,
                   "two sources give task " + std::to_string(index) +
                       " of the job " + "`" + Printable(job) + "`" + ": " +
                       Printable(place->second) + " and " + Printable(address));
    }
  }
  return Ok();
}

// No map writes this job as a map of indices.
bool IsListEverywhere(const std::vector<WrittenMap>& maps,
                      const std::string& job) {
  return std::none_of(maps.begin(), maps.end(), [&](const WrittenMap& map) {
    const auto sparse = map.sparse.find(job);
    return sparse != map.sparse.end() && sparse->second;
  });
}

}  // namespace

Result<TaskMap> UniteTaskMaps(const std::vector<WrittenMap>& maps) {
  TaskMap united;
  for (const WrittenMap& one : maps) {
    for (const auto& [job, tasks] : one.map.jobs) {
      MUSTER_TRY(UniteJob(job, tasks, IsListEverywhere(maps, job), united));
    }
  }
  return united;
}

}  // namespace muster::conformance
