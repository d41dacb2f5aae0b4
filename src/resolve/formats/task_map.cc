// SPDX-License-Identifier: Apache-2.0
#include "resolve/formats/task_map.h"

#include "base/text.h"

namespace muster::resolve {

int TaskMap::Places(const Tasks& tasks) {
  return tasks.empty() ? 0 : tasks.rbegin()->first + 1;
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

}  // namespace muster::resolve
