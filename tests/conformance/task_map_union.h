// SPDX-License-Identifier: Apache-2.0
// One map of tasks from several sources.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "resolve/formats/task_map.h"

namespace muster::conformance {

using resolve::TaskMap;

// Several sources as one: lists of a job are joined, maps are merged; an index
// that two of them have is an error. `sparse[i]` tells which jobs of map i were
// written as maps.
struct WrittenMap {
  TaskMap map;
  std::map<std::string, bool> sparse;
};
Result<TaskMap> UniteTaskMaps(const std::vector<WrittenMap>& maps);

}  // namespace muster::conformance
