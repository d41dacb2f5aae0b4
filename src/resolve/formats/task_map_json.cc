// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/text.h"
#include "resolve/formats/task_map.h"

namespace muster::resolve {
namespace {

constexpr int kMaxPlaces = 65536;

Error BadTaskMap(const std::string& place, const std::string& problem) {
  return Error(Cause::kClusterSpecInvalid, place + " " + problem);
}

Result<TaskMap::Tasks> TasksFromJson(const Json& json,
                                     const std::string& place) {
  if (!json.is_array() && !json.is_object()) {
    return BadTaskMap(place,
                      std::string("is neither a list of addresses nor a map "
                                  "from index to address, but ") +
                          json.type_name());
  }
  TaskMap::Tasks tasks;
  int position = 0;
  for (const auto& [key, value] : json.items()) {
    std::int64_t index = position++;
    if (json.is_object()) {
      const auto number = ParseInt(Trim(key));
      if (!number || *number < 0 || *number >= kMaxPlaces) {
        return BadTaskMap(place, "key is \"" + Printable(key) +
                                     "\", which is not a whole number");
      }
      index = *number;
    }
    if (json.is_array() && value.is_null()) {
      continue;  // a hole, as job_tasks writes it
    }
    if (!value.is_string()) {
      return BadTaskMap(
          place + "[" + std::to_string(index) + "]",
          std::string("is not an address but ") + value.type_name());
    }
    if (index >= kMaxPlaces) {
      return BadTaskMap(place, "has more than 65536 addresses");
    }
    if (!tasks.emplace(static_cast<int>(index), value.get<std::string>())
             .second) {
      return Error(Cause::kDuplicateIdentity,
                   place + " has number " + std::to_string(index) + " twice");
    }
  }
  return tasks;
}

}  // namespace

Result<TaskMap> TaskMapFromJson(const Json& json, const std::string& place) {
  if (!json.is_object()) {
    return BadTaskMap(place,
                      std::string("is not a task map but ") + json.type_name());
  }
  TaskMap map;
  for (const auto& [job, tasks] : json.items()) {
    if (job.empty()) {
      return BadTaskMap(place, "has a task without a name");
    }
    MUSTER_ASSIGN(map.jobs[job],
                  TasksFromJson(tasks, place + "." + Printable(job)));
  }
  return map;
}

Json ToJson(const TaskMap& map) {
  Json json = Json::object();
  for (const auto& [job, tasks] : map.jobs) {
    const bool dense = TaskMap::Places(tasks) == std::ssize(tasks);
    Json entry = dense ? Json::array() : Json::object();
    for (const auto& [index, address] : tasks) {
      if (dense) {
        entry.push_back(address);
      } else {
        entry[std::to_string(index)] = address;
      }
    }
    json[job] = std::move(entry);
  }
  return json;
}

}  // namespace muster::resolve
