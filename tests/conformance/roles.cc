// SPDX-License-Identifier: Apache-2.0
#include "roles.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace muster::conformance {
namespace {

using resolve::TaskMap;

Error WrongRoles(const std::string& what) {
  return Error(Cause::kClusterSpecInvalid, what);
}

std::string Quoted(const std::string& text) {
  return "`" + Printable(text) + "`";
}

int CountOf(const TaskMap& map, const std::string& job) {
  const auto found = map.jobs.find(job);
  return found == map.jobs.end() ? 0 : TaskMap::Places(found->second);
}

Status CheckRoles(const TaskMap& map, const std::string& type, int index) {
  const std::vector<std::string> known{"chief", "worker", "evaluator", "ps"};
  const auto is_known = [&](const std::string& name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  for (const auto& [job, tasks] : map.jobs) {
    if (!is_known(job)) {
      return WrongRoles(
          "the job " + Quoted(job) +
          " has no role: chief, worker, evaluator and ps have one");
    }
  }
  for (const char* job : {"chief", "evaluator"}) {
    if (CountOf(map, job) > 1) {
      return WrongRoles("the job `" + std::string(job) + "` has " +
                        std::to_string(CountOf(map, job)) +
                        " tasks, there is at most one");
    }
  }
  if (!type.empty() && !is_known(type)) {
    return WrongRoles("the task type " + Quoted(type) + " is not known");
  }
  if (type.empty() || (type == "evaluator" && !map.jobs.contains(type))) {
    return Ok();
  }
  if (!map.jobs.contains(type)) {
    return WrongRoles("the task type " + Quoted(type) +
                      " is not a job of the cluster (" + map.JobNames() + ")");
  }
  if (index < 0 || index >= CountOf(map, type)) {
    return WrongRoles("the task index " + std::to_string(index) +
                      " is out of range: the job " + Quoted(type) + " has " +
                      Count(CountOf(map, type), "task"));
  }
  return Ok();
}

}  // namespace

Result<Role> RoleOf(const TaskMap& map, const std::string& type, int index) {
  MUSTER_TRY(CheckRoles(map, type, index));
  Role role;
  const bool has_chief = map.jobs.contains("chief");
  role.is_chief = type == "chief" || type == "evaluator" ||
                  (!has_chief && type == "worker" && index == 0);
  const int workers = CountOf(map, "chief") + CountOf(map, "worker");
  if (type == "chief" || type == "worker") {
    role.id_in_cluster = type == "chief" ? 0 : index + CountOf(map, "chief");
    role.worker_count = workers;
  } else if (type == "evaluator") {
    role.id_in_cluster = index;
    role.worker_count = std::max(CountOf(map, "evaluator"), 1);
  }
  if (!map.jobs.empty() && type != "evaluator" && workers > 0) {
    role.leader = has_chief ? "/job:chief/replica:0/task:0"
                            : "/job:worker/replica:0/task:0";
  }
  return role;
}

}  // namespace muster::conformance
