// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/text.h"
#include "resolve/formats/host_list.h"
#include "resolve/platform/slurm.h"
#include "resolve/variables.h"

namespace muster::resolve {
namespace {

// "n1" is a task there, "n1*2" are two, as Slurm's slurm_read_hostfile has it.
void AddHost(std::string_view text, int tasks,
             std::vector<std::string>& hosts) {
  const std::size_t star = text.find('*');
  const auto times = star == std::string_view::npos
                         ? std::optional<std::int64_t>(1)
                         : ParseInt(text.substr(star + 1));
  const std::string name(times ? text.substr(0, star) : text);
  for (std::int64_t i = 0;
       i < times.value_or(1) && !name.empty() && std::ssize(hosts) < tasks;
       ++i) {
    hosts.push_back(name);
  }
}

Result<std::vector<std::string>> FromHostFile(const std::string& path,
                                              int tasks,
                                              const sys::Host& host) {
  MUSTER_ASSIGN(const auto text, host.fs.Read(path, 8U << 20));
  std::vector<std::string> hosts;
  for (const std::string& line : Split(text, '\n')) {
    for (const std::string& one : Split(line.substr(0, line.find('#')), ',')) {
      AddHost(Trim(one), tasks, hosts);
    }
  }
  if (std::ssize(hosts) < tasks) {
    return Error(Cause::kRankWorldMismatch,
                 "SLURM_HOSTFILE `" + path + "` has " +
                     Count(std::ssize(hosts), "place") + " for " +
                     Count(tasks, "task"));
  }
  hosts.resize(static_cast<std::size_t>(tasks));
  return hosts;
}

// Rounds over the nodes, each of which takes up to `at_once` of its tasks.
std::vector<std::string> Dealt(const std::vector<std::string>& hosts,
                               std::vector<int> counts, int at_once) {
  std::vector<std::string> placed;
  for (bool any = true; any;) {
    any = false;
    for (std::size_t node = 0; node < hosts.size(); ++node) {
      const int tasks = std::min(counts[node], at_once);
      counts[node] -= tasks;
      placed.insert(placed.end(), static_cast<std::size_t>(tasks), hosts[node]);
      any = any || tasks > 0;
    }
  }
  return placed;
}

// How many tasks in a row a node gets: all of them (block), one (cyclic), or a
// number (plane).
Result<int> AtOnce(const sys::Env& env, const std::string& spread) {
  if (spread.starts_with("cyclic")) {
    return 1;
  }
  if (!spread.starts_with("plane")) {
    return std::numeric_limits<int>::max();
  }
  MUSTER_ASSIGN(const auto plane,
                NumberVariable(env, "SLURM_DIST_PLANESIZE", 1));
  if (!plane) {
    return Error(Cause::kLaunchEnvMissing,
                 "SLURM_DISTRIBUTION is `" + Printable(spread) +
                     "`, but SLURM_DIST_PLANESIZE is not set: srun sets both");
  }
  return plane->value;
}

// What Slurm says of this very task, against where the counts put it.
void CheckOwnPlace(const std::vector<std::string>& hosts,
                   const std::vector<std::string>& placed, Claim& claim) {
  const auto at = [](const Number& number) {
    return static_cast<std::size_t>(number ? number->value : 0);
  };
  if (!claim.process_id || at(claim.process_id) >= placed.size()) {
    return;
  }
  const std::string& mine = placed[at(claim.process_id)];
  if (claim.node_rank && at(claim.node_rank) < hosts.size() &&
      hosts[at(claim.node_rank)] != mine) {
    claim.remarks.push_back(Warning(
        Cause::kSchedulerEnvMisread,
        "SLURM_NODEID=" + std::to_string(claim.node_rank->value) + " is `" +
            Printable(hosts[at(claim.node_rank)]) + "`, but SLURM_PROCID=" +
            std::to_string(claim.process_id->value) + " belongs to `" +
            Printable(mine) + "` according to the number of tasks per node"));
  }
  const auto here = std::count(placed.begin(), placed.end(), mine);
  if (claim.local_process_id && claim.local_process_id->value >= here) {
    claim.remarks.push_back(Warning(
        Cause::kSchedulerEnvMisread,
        "SLURM_LOCALID=" + std::to_string(claim.local_process_id->value) +
            ", but `" + Printable(mine) + "` has " + Count(here, "task") +
            " of the step"));
  }
}

}  // namespace

bool IsSlurmStep(const sys::Env& env) {
  return FirstText(env, {"SLURM_STEP_ID", "SLURM_STEPID", "SLURM_STEP_NODELIST",
                         "SLURM_STEP_NUM_TASKS"})
      .has_value();
}

Result<std::vector<std::string>> PlaceTasks(
    const std::vector<std::string>& hosts, int tasks, const sys::Host& host,
    Claim& claim) {
  const sys::Env& env = host.env;
  const std::string spread = env.Get("SLURM_DISTRIBUTION").value_or("");
  const Text file = TextVariable(env, "SLURM_HOSTFILE");
  if (file && (spread.empty() || spread.starts_with("arbitrary"))) {
    return FromHostFile(file->value, tasks, host);
  }
  const Text text =
      FirstText(env, {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"});
  if (!text || hosts.empty()) {
    return tasks == 1 && hosts.size() == 1 ? hosts : std::vector<std::string>();
  }
  auto counts = ExpandTasksPerNode(text->value);
  if (!counts) {
    return std::move(counts).error().While("while reading " + text->source);
  }
  const auto total = std::accumulate(counts->begin(), counts->end(), 0LL);
  if (counts->size() != hosts.size() || total != tasks) {
    claim.remarks.push_back(Warning(
        Cause::kSchedulerEnvMisread,
        text->source + " is `" + Printable(text->value) +
            "`: " + Count(total, "task") + " on " +
            Count(std::ssize(*counts), "node") + ", but the step has " +
            Count(tasks, "task") + " on " + Count(std::ssize(hosts), "node")));
    return std::vector<std::string>();
  }
  MUSTER_ASSIGN(const int at_once, AtOnce(env, spread));
  auto placed = Dealt(hosts, *std::move(counts), at_once);
  CheckOwnPlace(hosts, placed, claim);
  return placed;
}

}  // namespace muster::resolve
