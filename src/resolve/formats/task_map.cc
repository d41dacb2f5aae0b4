// SPDX-License-Identifier: Apache-2.0
#include "resolve/formats/task_map.h"

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

}  // namespace

int TaskMap::Places(const Tasks& tasks) {
  return tasks.empty() ? 0 : tasks.rbegin()->first + 1;
}

Result<const TaskMap::Tasks*> TaskMap::Job(const std::string& job) const {
  const auto found = jobs.find(job);
  if (found == jobs.end()) {
    return Wrong("there is no job " + Quoted(job) + " (" + JobNames() + ")");
  }
  return &found->second;
}

Result<std::string> TaskMap::AddressOf(const std::string& job,
                                       int index) const {
  MUSTER_ASSIGN(const Tasks* tasks, Job(job));
  const auto found = tasks->find(index);
  if (found == tasks->end()) {
    return Wrong("the job " + Quoted(job) + " has no task " +
                 std::to_string(index));
  }
  return found->second;
}

std::string TaskMap::JobNames() const {
  std::vector<std::string> names;
  for (const auto& [job, tasks] : jobs) {
    names.push_back(Printable(job));
  }
  return names.empty() ? "none" : Join(names, ", ");
}

bool TaskMap::IsOneTask() const {
  return jobs.empty() ||
         (jobs.size() == 1 && Places(jobs.begin()->second) == 1);
}

TaskMap::Tasks ToTasks(const std::vector<std::string>& addresses) {
  TaskMap::Tasks tasks;
  for (const std::string& address : addresses) {
    tasks.emplace(static_cast<int>(tasks.size()), address);
  }
  return tasks;
}

std::string MasterUrl(const std::string& address,
                      const std::string& rpc_layer) {
  return rpc_layer.empty() ? address : rpc_layer + "://" + address;
}

}  // namespace muster::resolve
