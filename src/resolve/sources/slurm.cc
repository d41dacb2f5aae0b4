// SPDX-License-Identifier: Apache-2.0
// A step of Slurm: what srun sets for each of its tasks.
#include <algorithm>

#include "base/text.h"
#include "resolve/formats/host_list.h"
#include "resolve/platform/slurm.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::slurm {
namespace {

const std::vector<std::string>& NodeListNames() {
  static const std::vector<std::string> names{
      "SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"};
  return names;
}

bool IsInteractive(const sys::Env& env) {
  const std::string name = env.Get("SLURM_JOB_NAME").value_or("");
  return name == "bash" || name == "interactive";
}

// By what the allocation is for more than one task; empty: it is not. Without a
// number of tasks Slurm starts one on each node.
std::string SeveralTasks(const sys::Env& env) {
  if (const Text tasks = TextVariable(env, "SLURM_NTASKS")) {
    return tasks->value == "1"
               ? ""
               : "SLURM_NTASKS is `" + Printable(tasks->value) + "`";
  }
  const Text list = FirstText(env, NodeListNames());
  const auto hosts = ExpandHostList(list ? list->value : "");
  return hosts && hosts->size() > 1
             ? list->source.substr(4) + " is `" + Printable(list->value) + "`"
             : "";
}

Match Speak(const Request&, const sys::Host& host) {
  const sys::Env& env = host.env;
  const bool job = IsSet(env, "SLURM_JOB_ID") || IsSet(env, "SLURM_NTASKS") ||
                   IsSet(env, "SLURM_JOB_NAME");
  if (!job && !IsSet(env, "SLURM_PROCID")) {
    return Silent("SLURM_PROCID is not set");
  }
  const bool step = IsSlurmStep(env);
  if (const std::string inside = LauncherInside(env);
      !inside.empty() && (!step || !IsSet(env, "SLURM_PROCID"))) {
    return Silent(
        inside + " shows that a launcher other than srun started this process");
  }
  if (!IsSet(env, "SLURM_PROCID")) {
    return Suspicious(
        Cause::kSchedulerEnvMisread,
        "this process is in a Slurm allocation but not in a step (SLURM_PROCID "
        "is not set): start the program with srun, because a batch script, an "
        "IDE or an salloc shell runs once");
  }
  if (const std::string several = SeveralTasks(env);
      !step && !several.empty()) {
    return Suspicious(Cause::kSchedulerEnvMisread,
                      several +
                          ", but no SLURM_STEP_* variable is set: this is the "
                          "batch script; start the program with srun");
  }
  const std::string tasks =
      env.Get("SLURM_STEP_NUM_TASKS")
          .value_or(env.Get("SLURM_NTASKS").value_or("1"));
  if (IsInteractive(env) && tasks == "1") {
    return Suspicious(Cause::kSchedulerEnvMisread,
                      "SLURM_JOB_NAME is `" +
                          Printable(*env.Get("SLURM_JOB_NAME")) +
                          "`: an interactive shell counts as one task; start "
                          "the program with srun");
  }
  return Speaks();
}

Result<int> TaskCount(const sys::Env& env, std::size_t nodes) {
  MUSTER_ASSIGN(const auto step,
                NumberVariable(env, "SLURM_STEP_NUM_TASKS", 1));
  MUSTER_ASSIGN(const auto job, NumberVariable(env, "SLURM_NTASKS", 1));
  if (step) {
    return step->value;
  }
  if (job) {
    return job->value;
  }
  if (nodes == 1 && env.Get("SLURM_PROCID").value_or("0") == "0") {
    return 1;
  }
  return Error(Cause::kLaunchEnvMissing,
               "not in a Slurm step: neither SLURM_NTASKS nor "
               "SLURM_STEP_NUM_TASKS is set; srun sets them");
}

// The set of torch's variables beside those of Slurm: complete, and not from a
// launcher that runs inside of the task.
bool HasTorchSet(const sys::Env& env) {
  return IsSet(env, "RANK") && IsSet(env, "WORLD_SIZE") &&
         IsSet(env, "MASTER_ADDR") && IsSet(env, "MASTER_PORT") &&
         !IsSet(env, "TORCHELASTIC_RUN_ID");
}

Error Differs(const std::string& torch, int torch_value,
              const std::string& slurm, int slurm_value, const char* how) {
  return Error(Cause::kRankWorldMismatch,
               torch + "=" + std::to_string(torch_value) + " " + how + " " +
                   slurm + "=" + std::to_string(slurm_value) +
                   ": unset the torch variables, or start without srun");
}

// On several nodes torch's numbers equal Slurm's; on one node they may be
// larger, where one task starts several processes.
Status TakeTorchSet(const sys::Env& env, Claim& claim, bool several_nodes) {
  struct Pair {
    const char* torch;
    const char* slurm;
    Number* value;
  };
  for (const Pair& pair :
       {Pair{"WORLD_SIZE", "SLURM_NTASKS", &claim.num_processes},
        Pair{"RANK", "SLURM_PROCID", &claim.process_id},
        Pair{"LOCAL_RANK", "SLURM_LOCALID", &claim.local_process_id}}) {
    MUSTER_ASSIGN(auto torch, NumberVariable(env, pair.torch));
    if (!torch || !*pair.value) {
      continue;
    }
    const int slurm = (*pair.value)->value;
    if (several_nodes && torch->value != slurm) {
      return Differs(pair.torch, torch->value, pair.slurm, slurm,
                     "differs from");
    }
    if (torch->value < slurm) {
      return Differs(pair.torch, torch->value, pair.slurm, slurm,
                     "is smaller than");
    }
    *pair.value = torch;
  }
  return Ok();
}

// A launcher that the task runs, and that starts several processes for it.
Result<bool> CountsProcessesOfTasks(const sys::Env& env, const Claim& claim) {
  MUSTER_ASSIGN(const auto local, NumberVariable(env, "LOCAL_WORLD_SIZE", 1));
  MUSTER_ASSIGN(const auto world, NumberVariable(env, "WORLD_SIZE", 1));
  return local && world && local->value > 1 &&
         std::int64_t{local->value} * claim.num_processes->value ==
             world->value;
}

// A part of torch's set that says who this process is cannot be right. A batch
// script may export the size for all of its tasks.
Status CheckPartialTorchSet(const sys::Host& host, const Claim& claim) {
  const sys::Env& env = host.env;
  if (IsSet(env, "TORCHELASTIC_RUN_ID") ||
      (!IsSet(env, "RANK") && !IsSet(env, "WORLD_SIZE"))) {
    return Ok();
  }
  if (!IsSet(env, "RANK")) {
    MUSTER_ASSIGN(const int world, SizeVariable(env, "WORLD_SIZE"));
    const int tasks = claim.num_processes->value;
    return world == tasks ? Ok()
                          : Differs("WORLD_SIZE", world, "SLURM_NTASKS", tasks,
                                    "differs from");
  }
  return RequireAll(
      {.names = {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"},
       .setters =
           "in a Slurm step, set all of them or no RANK: a launcher such as "
           "torchrun sets all; without RANK, Slurm's ranks apply"},
      host);
}

std::string LastDigits(const std::string& job, std::size_t count) {
  return job.size() > count ? job.substr(job.size() - count) : job;
}

Result<Number> JobNumber(const Text& job, bool last_four) {
  if (!job) {
    return Number();
  }
  const auto number =
      ParseInt(last_four ? LastDigits(job->value, 4) : job->value);
  if (!number || *number < 0) {
    return Error(Cause::kClusterSpecInvalid, "SLURM_JOB_ID is `" +
                                                 Printable(job->value) +
                                                 "`, which is not a number");
  }
  return Number(Sourced<int>{
      static_cast<int>(last_four ? 15000 + *number : 61440 + *number % 4096),
      last_four ? "15000 + last four digits of SLURM_JOB_ID"
                : "61440 + SLURM_JOB_ID mod 4096"});
}

Status TakeCoordinator(const Request& request, const sys::Env& env,
                       Claim& claim) {
  const Text job = FirstText(env, {"SLURM_JOB_ID", "SLURM_JOBID"});
  if (!claim.rank_hosts.empty()) {
    claim.coordinator_host = Sourced<std::string>{
        claim.rank_hosts.front(), "host of rank 0 in the Slurm node list"};
  }
  if (request.profile == "jax") {
    MUSTER_ASSIGN(claim.coordinator_port,
                  PortVariable(env, "JAX_COORDINATOR_PORT"));
    if (!claim.coordinator_port) {
      MUSTER_ASSIGN(claim.coordinator_port, JobNumber(job, false));
    }
    return Ok();
  }
  if (auto told = TextVariable(env, "MASTER_ADDR")) {
    claim.coordinator_host = told;
  }
  MUSTER_ASSIGN(claim.coordinator_port, PortVariable(env, "MASTER_PORT"));
  if (!claim.coordinator_port) {
    MUSTER_ASSIGN(claim.coordinator_port, JobNumber(job, true));
  }
  if (!claim.coordinator_port) {
    claim.coordinator_port =
        Sourced<int>{12910, "default of Lightning without SLURM_JOB_ID"};
  }
  return Ok();
}

std::vector<std::string> Required(const Request& request) {
  if (request.profile == "jax") {
    return {"SLURM_JOB_ID", "SLURM_PROCID", "SLURM_LOCALID"};
  }
  return {"SLURM_PROCID", "SLURM_LOCALID"};
}

Status TakeNodes(const Request& request, const sys::Host& host, Claim& claim) {
  const Text list = FirstText(host.env, NodeListNames());
  if (!list) {
    if (IsSet(host.env, "MASTER_ADDR") && request.profile != "jax") {
      return Ok();
    }
    return Error(Cause::kLaunchEnvMissing, "not in a Slurm step: none of " +
                                               List(NodeListNames()) +
                                               " is set; srun sets them");
  }
  auto hosts = ExpandHostList(list->value);
  if (!hosts) {
    return std::move(hosts).error().While("while reading " + list->source);
  }
  if (hosts->empty()) {
    return Error(Cause::kClusterSpecInvalid,
                 list->source.substr(4) + " contains no host");
  }
  claim.hosts = *std::move(hosts);
  claim.num_nodes =
      Sourced<int>{static_cast<int>(claim.hosts.size()), list->source};
  return Ok();
}

// Of this task and of all of them.
Status TakeTasks(const sys::Host& host, Claim& claim) {
  const sys::Env& env = host.env;
  MUSTER_ASSIGN(const int tasks, TaskCount(env, claim.hosts.size()));
  claim.num_processes = Sourced<int>{tasks, IsSet(env, "SLURM_STEP_NUM_TASKS")
                                                ? "env SLURM_STEP_NUM_TASKS"
                                                : "env SLURM_NTASKS"};
  MUSTER_ASSIGN(claim.process_id, NumberVariable(env, "SLURM_PROCID"));
  MUSTER_ASSIGN(claim.local_process_id, NumberVariable(env, "SLURM_LOCALID"));
  MUSTER_ASSIGN(claim.node_rank, NumberVariable(env, "SLURM_NODEID"));
  MUSTER_ASSIGN(claim.rank_hosts, PlaceTasks(claim.hosts, tasks, host, claim));
  if (claim.rank_hosts.empty() && !claim.hosts.empty()) {
    claim.rank_hosts = {claim.hosts.front()};
  }
  return Ok();
}

Result<Claim> Read(const Request& request, const sys::Host& host) {
  if (request.profile == "tf") {
    return ReadTensorflowStep(host);
  }
  const sys::Env& env = host.env;
  Claim claim{.source = "slurm"};
  MUSTER_TRY(RequireAll(
      {.names = Required(request),
       .setters = "not in a Slurm step; srun sets them: srun python …"},
      host));
  MUSTER_TRY(TakeNodes(request, host, claim));
  MUSTER_TRY(TakeTasks(host, claim));
  const bool several_nodes = claim.hosts.size() > 1;
  if (request.profile != "jax") {
    MUSTER_TRY(CheckPartialTorchSet(host, claim));
    MUSTER_ASSIGN(const bool of_tasks, CountsProcessesOfTasks(env, claim));
    if (HasTorchSet(env) && !of_tasks) {
      MUSTER_TRY(TakeTorchSet(env, claim, several_nodes));
    }
  }
  MUSTER_TRY(CheckNumbers(claim));
  MUSTER_TRY(TakeCoordinator(request, env, claim));
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "slurm",
    .precedence = 400,
    .starts_agents = true,
    .doc = "a Slurm step, from the variables that srun sets for each task",
    .reads =
        "SLURM_PROCID, SLURM_LOCALID, SLURM_NODEID, SLURM_STEP_NUM_TASKS, "
        "SLURM_NTASKS, SLURM_STEP_NODELIST, SLURM_JOB_NODELIST, "
        "SLURM_NODELIST, SLURM_STEP_TASKS_PER_NODE, SLURM_HOSTFILE, "
        "SLURM_DISTRIBUTION, SLURM_DIST_PLANESIZE, "
        "SLURM_JOB_ID, JAX_COORDINATOR_PORT, MASTER_ADDR, MASTER_PORT",
    .ports =
        "torch 15000 + last four digits of the job id, jax 61440 + job id "
        "mod 4096, tf 8888 + index on the node",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::slurm
