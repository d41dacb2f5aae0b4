// SPDX-License-Identifier: Apache-2.0
// A part of the source "slurm": workers over the tasks of a step, each with the
// first port plus its index on its node, and GPUs in the same way.
#include <algorithm>

#include "base/text.h"
#include "resolve/formats/host_list.h"
#include "resolve/platform/slurm.h"
#include "resolve/variables.h"

namespace muster::resolve {
namespace {

constexpr std::int64_t kMaxTasks = 65536;
constexpr int kFirstPort = 8888;
constexpr const char* kSetters =
    "not in a Slurm job step; srun sets them for each task: srun python …";

Error Missing(const std::string& name, const sys::Host& host) {
  return PartlySet({.names = {name}, .setters = kSetters}, host);
}

struct Node {
  std::string host;
  int tasks = 0;
};

Result<std::vector<Node>> ReadNodes(const sys::Host& host) {
  const Text list = TextVariable(host.env, "SLURM_STEP_NODELIST");
  if (!list) {
    return Missing("SLURM_STEP_NODELIST", host);
  }
  MUSTER_ASSIGN(const auto hosts, ExpandHostList(list->value));
  const Text text = TextVariable(host.env, "SLURM_STEP_TASKS_PER_NODE");
  if (!text) {
    return Missing("SLURM_STEP_TASKS_PER_NODE", host);
  }
  MUSTER_ASSIGN(const auto counts, ExpandTasksPerNode(text->value));
  if (counts.size() != hosts.size() || hosts.empty()) {
    return Error(Cause::kSchedulerEnvMisread,
                 "SLURM_STEP_NODELIST names " +
                     Count(std::ssize(hosts), "host") +
                     ", but SLURM_STEP_TASKS_PER_NODE lists the tasks of " +
                     std::to_string(counts.size()));
  }
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    nodes.push_back({hosts[i], counts[i]});
  }
  return nodes;
}

// Each task has an equal part of the GPUs that its node shows.
int GpusOfTask(int most_tasks, const sys::Env& env) {
  const auto visible = env.Get("CUDA_VISIBLE_DEVICES");
  const auto gpus =
      visible ? std::count(visible->begin(), visible->end(), ',') + 1 : 0;
  return static_cast<int>(gpus) / std::max(most_tasks, 1);
}

// All tasks of the step are workers.
Status CheckTotal(const sys::Host& host, std::int64_t total) {
  if (!IsSet(host.env, "SLURM_STEP_NUM_TASKS")) {
    return Missing("SLURM_STEP_NUM_TASKS", host);
  }
  MUSTER_ASSIGN(const int wanted,
                SizeVariable(host.env, "SLURM_STEP_NUM_TASKS"));
  if (wanted != total) {
    return Error(Cause::kRankWorldMismatch,
                 "SLURM_STEP_NUM_TASKS is " + std::to_string(wanted) +
                     ", the nodes of the step have " + Count(total, "task"));
  }
  return Ok();
}

std::string GpuList(int first, int count) {
  std::vector<std::string> ids;
  for (int id = first; id < first + count; ++id) {
    ids.push_back(std::to_string(id));
  }
  return Join(ids, ",");
}

// One address per task of the step, node by node.
void PlaceWorkers(const std::vector<Node>& nodes, Claim& claim) {
  std::vector<std::string> addresses;
  for (const Node& node : nodes) {
    claim.hosts.push_back(node.host);
    for (int local = 0; local < node.tasks; ++local) {
      addresses.push_back(node.host + ":" + std::to_string(kFirstPort + local));
      claim.rank_hosts.push_back(node.host);
    }
  }
  claim.tasks.emplace().jobs["worker"] = ToTasks(addresses);
  claim.task_type = Sourced<std::string>{"worker", "env SLURM_PROCID"};
  claim.task_id = claim.process_id;
}

// The place of this task on its node: SLURM_PROCID counts node by node.
int PlaceOnNode(const std::vector<Node>& nodes, int rank) {
  for (const Node& node : nodes) {
    if (rank < node.tasks) {
      return rank;
    }
    rank -= node.tasks;
  }
  return 0;
}

}  // namespace

Result<Claim> ReadTensorflowStep(const sys::Host& host) {
  const sys::Env& env = host.env;
  Claim claim{.source = "slurm"};
  MUSTER_ASSIGN(claim.process_id, NumberVariable(env, "SLURM_PROCID"));
  if (!claim.process_id) {
    return Missing("SLURM_PROCID", host);
  }
  MUSTER_ASSIGN(const auto nodes, ReadNodes(host));
  std::int64_t total = 0;
  int most = 0;
  for (const Node& node : nodes) {
    total += node.tasks;
    most = std::max(most, node.tasks);
  }
  if (total > kMaxTasks) {
    return Error(Cause::kClusterSpecInvalid,
                 "the nodes of the step have " + Count(total, "task") +
                     ", but the limit is " + std::to_string(kMaxTasks));
  }
  MUSTER_TRY(CheckTotal(host, total));
  claim.num_processes =
      Sourced<int>{static_cast<int>(total), "env SLURM_STEP_TASKS_PER_NODE"};
  MUSTER_TRY(CheckNumbers(claim));
  MUSTER_ASSIGN(claim.local_process_id, NumberVariable(env, "SLURM_LOCALID"));
  MUSTER_ASSIGN(claim.node_rank, NumberVariable(env, "SLURM_NODEID"));
  claim.rpc_layer = Sourced<std::string>{"grpc", "default of tf"};
  PlaceWorkers(nodes, claim);
  const int gpus = GpusOfTask(most, env);
  const int local = PlaceOnNode(nodes, claim.process_id->value);
  claim.more["num_gpus"] = std::int64_t{gpus};
  claim.more["cuda_visible_devices"] = GpuList(local * gpus, gpus);
  return claim;
}

}  // namespace muster::resolve
