// SPDX-License-Identifier: Apache-2.0
#include "resolve/formats/roles.h"

#include <algorithm>

#include "base/text.h"

namespace muster::resolve {
namespace {

Error Wrong(const std::string& what) {
  return Error(Cause::kClusterSpecInvalid, what);
}

std::string Quoted(const std::string& text) {
  return "`" + Printable(text) + "`";
}

int CountOf(const TaskMap& map, const std::string& job) {
  const auto found = map.jobs.find(job);
  return found == map.jobs.end() ? 0 : TaskMap::Places(found->second);
}

}  // namespace

Result<EstimatorRole> EstimatorRoleOf(const TaskMap& map,
                                      const std::optional<std::string>& type,
                                      std::optional<int> index) {
  if (map.jobs.empty()) {
    if (type.value_or("worker") != "worker") {
      return Wrong("there is no cluster, but the task type is " +
                   Quoted(*type) + ": a single process is worker 0");
    }
    if (index.value_or(0) != 0) {
      return Wrong("there is no cluster, but the task index is " +
                   std::to_string(*index) + ": a single process is worker 0");
    }
    return EstimatorRole{.is_chief = true, .num_workers = 1, .global_id = 0};
  }
  const bool master = map.jobs.contains("master");
  const std::string first = master ? "master" : "chief";
  if (master && map.jobs.contains("chief")) {
    return Wrong(
        "the cluster has both `master` and `chief`, but only one can lead");
  }
  if (CountOf(map, first) != 1) {
    return Wrong("the cluster has " + Count(CountOf(map, first), "task") +
                 " of `" + first + "`, but exactly one is required");
  }
  if (!type || type->empty()) {
    return Wrong("there is a cluster, but task.type is missing");
  }
  if (!index) {
    return Wrong("there is a cluster, but task.index is missing");
  }
  if (*index < 0) {
    return Wrong("the task index is negative: " + std::to_string(*index));
  }
  if (*type == "evaluator") {
    return master ? Result<EstimatorRole>(Wrong(
                        "the cluster has a `master`, which excludes the task "
                        "type `evaluator`"))
                  : EstimatorRole{};
  }
  if (!map.jobs.contains(*type)) {
    return Wrong("the task type " + Quoted(*type) +
                 " is not a job of the cluster (" + map.JobNames() + ")");
  }
  if (*index >= CountOf(map, *type)) {
    return Wrong("the task index is " + std::to_string(*index) + ", but " +
                 Quoted(*type) + " has " + Count(CountOf(map, *type), "task"));
  }
  EstimatorRole role{
      .is_chief = *type == first,
      .num_workers = CountOf(map, first) + CountOf(map, "worker"),
      .num_ps = CountOf(map, "ps")};
  std::vector<std::string> order{first};
  for (const auto& [job, tasks] : map.jobs) {
    if (job != first && job != "ps") {
      order.push_back(job);
    }
  }
  order.emplace_back("ps");
  int next = 0;
  for (const std::string& job : order) {
    if (job == *type) {
      role.global_id = next + *index;
    }
    next += CountOf(map, job);
  }
  return role;
}

}  // namespace muster::resolve
