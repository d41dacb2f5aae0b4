// SPDX-License-Identifier: Apache-2.0
#include "member/unmanaged.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/text.h"

namespace muster {
namespace {

// Each holds the number of processes when a launcher has set it.
// None is set by a mere allocation (SLURM_NTASKS is).
constexpr std::array kSizes = {"MUSTER_WORLD_SIZE",    "WORLD_SIZE",
                               "SLURM_STEP_NUM_TASKS", "PMI_SIZE",
                               "OMPI_COMM_WORLD_SIZE", "JAX_NUM_PROCESSES"};

Error MoreMembers(const std::string& who, std::int64_t members,
                  const std::string& how) {
  return Error(Cause::kLaunchEnvMissing,
               who + " describes " + std::to_string(members) +
                   " members, but this process was not started by an agent; "
                   "start it with `" +
                   how + "`")
      .With({.name = "env.members",
             .fields = {{"variable", who}, {"members", members}},
             .subject = who,
             .by = "this process"});
}

// Addresses in TF_CONFIG's cluster; an evaluator works with nobody.
Result<std::int64_t> TasksOf(const std::string& text) {
  MUSTER_ASSIGN(const Json json,
                ParseJson(text, Cause::kClusterSpecInvalid, "TF_CONFIG"));
  std::int64_t tasks = 0;
  if (json.is_object() && json.contains("cluster") &&
      json["cluster"].is_object()) {
    for (const auto& [task, addresses] : json["cluster"].items()) {
      if (task == "evaluator") {
        continue;
      }
      tasks += addresses.is_array() || addresses.is_object()
                   ? static_cast<std::int64_t>(addresses.size())
                   : 1;
    }
  }
  return tasks;
}

}  // namespace

Status RequireAlone(const sys::Env& env) {
  for (const char* name : kSizes) {
    const auto text = env.Get(name);
    if (!text || text->empty()) {
      continue;
    }
    const auto size = ParseInt(*text);
    if (!size || *size < 1) {
      return Error(Cause::kClusterSpecInvalid,
                   std::string(name) + "=`" + Printable(*text) +
                       "` is not a number of processes");
    }
    if (*size > 1) {
      return MoreMembers(std::string(name) + "=" + *text, *size,
                         "muster run -n " + *text + " -- PROGRAM");
    }
  }
  if (const auto text = env.Get("TF_CONFIG"); text && !text->empty()) {
    MUSTER_ASSIGN(const std::int64_t tasks, TasksOf(*text));
    if (tasks > 1) {
      return MoreMembers("TF_CONFIG", tasks,
                         "muster run -- PROGRAM` on every host, or `muster run "
                         "-n " +
                             std::to_string(tasks) + " -- PROGRAM");
    }
  }
  return Ok();
}

}  // namespace muster
