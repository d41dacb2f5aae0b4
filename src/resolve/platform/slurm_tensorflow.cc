// SPDX-License-Identifier: Apache-2.0
// Jobs over the tasks of a step: each task has the port base plus its index on
// its node, and GPUs in the same way.
#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "resolve/formats/host_list.h"
#include "resolve/platform/slurm.h"
#include "resolve/platform/tensorflow.h"
#include "resolve/variables.h"

namespace muster::resolve {
namespace {

constexpr std::int64_t kMaxTasks = 65536;
constexpr const char* kSetters =
    "this is no Slurm job step, srun sets them for each task: srun python …";

Error Missing(const std::string& name, const sys::Host& host) {
  return PartlySet({.names = {name}, .setters = kSetters}, host);
}

struct Node {
  std::string host;
  int tasks = 0;
};

Result<std::vector<Node>> ReadNodes(const Request& request,
                                    const sys::Host& host) {
  const auto& asked = request.slurm;
  std::vector<Node> nodes;
  if (!asked.tasks_of_node.empty()) {
    for (const auto& [name, tasks] : asked.tasks_of_node) {
      nodes.push_back({name, tasks});
    }
    return nodes;
  }
  const Text list = TextVariable(host.env, "SLURM_STEP_NODELIST");
  if (!list) {
    return Missing("SLURM_STEP_NODELIST", host);
  }
  MUSTER_ASSIGN(const auto hosts, ExpandHostList(list->value));
  std::vector<int> counts(hosts.size(), asked.tasks_per_node.value_or(0));
  if (!asked.tasks_per_node) {
    const Text text = TextVariable(host.env, "SLURM_STEP_TASKS_PER_NODE");
    if (!text) {
      return Missing("SLURM_STEP_TASKS_PER_NODE", host);
    }
    MUSTER_ASSIGN(counts, ExpandTasksPerNode(text->value));
  }
  if (counts.size() != hosts.size() || hosts.empty()) {
    return Error(Cause::kSchedulerEnvMisread,
                 "SLURM_STEP_NODELIST names " +
                     Count(std::ssize(hosts), "host") +
                     ", SLURM_STEP_TASKS_PER_NODE counts the tasks of " +
                     std::to_string(counts.size()));
  }
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    nodes.push_back({hosts[i], counts[i]});
  }
  return nodes;
}

struct Gpus {
  int per_node = 0;
  int per_task = 0;
};

Result<Gpus> ReadGpus(const Request& request, int most_tasks,
                      const sys::Env& env) {
  Gpus gpus;
  const auto visible = env.Get("CUDA_VISIBLE_DEVICES");
  const auto commas =
      visible ? std::count(visible->begin(), visible->end(), ',') : -1;
  gpus.per_node =
      request.slurm.gpus_per_node.value_or(static_cast<int>(commas) + 1);
  gpus.per_task = request.slurm.gpus_per_task.value_or(gpus.per_node /
                                                       std::max(most_tasks, 1));
  if (most_tasks * gpus.per_task > gpus.per_node) {
    return Error(Cause::kRankWorldMismatch, std::to_string(most_tasks) +
                                                " tasks of a node ask for " +
                                                std::to_string(gpus.per_task) +
                                                " GPUs each, the node has " +
                                                std::to_string(gpus.per_node));
  }
  return gpus;
}

Result<std::map<std::string, int>> ReadJobs(const Request& request,
                                            const sys::Host& host,
                                            std::int64_t total) {
  auto jobs = request.slurm.jobs;
  if (jobs.empty()) {
    if (!IsSet(host.env, "SLURM_STEP_NUM_TASKS")) {
      return Missing("SLURM_STEP_NUM_TASKS", host);
    }
    MUSTER_ASSIGN(jobs["worker"],
                  SizeVariable(host.env, "SLURM_STEP_NUM_TASKS"));
  }
  for (const auto& [job, count] : jobs) {
    if (count < 0) {
      return Error(Cause::kClusterSpecInvalid,
                   "the job `" + Printable(job) + "` asks for " +
                       std::to_string(count) + " tasks");
    }
  }
  const auto wanted = std::accumulate(
      jobs.begin(), jobs.end(), std::int64_t{0},
      [](std::int64_t sum, const auto& job) { return sum + job.second; });
  if (wanted != total) {
    return Error(Cause::kRankWorldMismatch,
                 "the jobs ask for " + Count(wanted, "task") +
                     ", the step has " + std::to_string(total));
  }
  return jobs;
}

std::string GpuList(int first, int count) {
  std::vector<std::string> ids;
  for (int id = first; id < first + count; ++id) {
    ids.push_back(std::to_string(id));
  }
  return Join(ids, ",");
}

// One address per task of the step, node by node.
std::vector<std::string> PlaceTasks(const std::vector<Node>& nodes,
                                    int port_base, Claim& claim) {
  std::vector<std::string> addresses;
  for (const Node& node : nodes) {
    claim.hosts.push_back(node.host);
    for (int local = 0; local < node.tasks; ++local) {
      std::string address = node.host;
      address += ":" + std::to_string(port_base + local);
      addresses.push_back(std::move(address));
      claim.rank_hosts.push_back(node.host);
    }
  }
  return addresses;
}

// The jobs in order share the addresses out; the own task follows.
void ShareOut(const std::map<std::string, int>& jobs,
              const std::vector<std::string>& addresses, Claim& claim) {
  const int rank = claim.process_id->value;
  claim.tasks.emplace();
  int first = 0;
  for (const auto& [job, count] : jobs) {
    claim.tasks->jobs[job] =
        ToTasks({addresses.begin() + first, addresses.begin() + first + count});
    if (rank >= first && rank < first + count) {
      claim.task_type = Sourced<std::string>{job, "env SLURM_PROCID"};
      claim.task_id = Sourced<int>{rank - first, "env SLURM_PROCID"};
    }
    first += count;
  }
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

Result<Claim> ReadTensorflowStep(const Request& request,
                                 const sys::Host& host) {
  const sys::Env& env = host.env;
  Claim claim{.source = "slurm"};
  MUSTER_ASSIGN(claim.process_id, NumberVariable(env, "SLURM_PROCID"));
  if (!claim.process_id) {
    return Missing("SLURM_PROCID", host);
  }
  MUSTER_ASSIGN(const auto nodes, ReadNodes(request, host));
  std::int64_t total = 0;
  int most = 0;
  for (const Node& node : nodes) {
    total += node.tasks;
    most = std::max(most, node.tasks);
  }
  if (total > kMaxTasks) {
    return Error(Cause::kClusterSpecInvalid,
                 "the nodes of the step have " + Count(total, "task") +
                     ", the limit is " + std::to_string(kMaxTasks));
  }
  MUSTER_ASSIGN(const auto jobs, ReadJobs(request, host, total));
  MUSTER_ASSIGN(const Gpus gpus, ReadGpus(request, most, env));
  claim.num_processes =
      Sourced<int>{static_cast<int>(total), "env SLURM_STEP_TASKS_PER_NODE"};
  MUSTER_TRY(CheckNumbers(claim));
  MUSTER_ASSIGN(claim.local_process_id, NumberVariable(env, "SLURM_LOCALID"));
  MUSTER_ASSIGN(claim.node_rank, NumberVariable(env, "SLURM_NODEID"));
  claim.rpc_layer = Sourced<std::string>{"grpc", "default of tf"};
  ShareOut(jobs, PlaceTasks(nodes, request.slurm.port_base, claim), claim);
  MUSTER_TRY(ApplyTensorflow(request, {}, claim));
  claim.more["num_gpus"] = std::int64_t{gpus.per_task};
  if (request.slurm.auto_set_gpu) {
    const int local = PlaceOnNode(nodes, claim.process_id->value);
    claim.more["cuda_visible_devices"] =
        GpuList(local * gpus.per_task, gpus.per_task);
  }
  return claim;
}

}  // namespace muster::resolve
