// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/text.h"
#include "cloud/auth/metadata.h"
#include "request.h"
#include "resolve/formats/endpoint.h"
#include "resolve/formats/host_list.h"
#include "resolve/source.h"
#include "resolve/variables.h"
#include "torch_url.h"

namespace muster::conformance {
namespace {

using resolve::Claim;
using resolve::TaskMap;

// An argument and the variable that says the same.
struct Variable {
  const char* source;
  const char* argument;
  const char* name;
};
constexpr std::array kVariables{
    Variable{"jax-env", "coordinator_address", "JAX_COORDINATOR_ADDRESS"},
    Variable{"jax-env", "num_processes", "JAX_NUM_PROCESSES"},
    Variable{"jax-env", "process_id", "JAX_PROCESS_ID"},
    Variable{"launcher", "nproc", "LOCAL_WORLD_SIZE"},
    Variable{"launcher", "world_size", "WORLD_SIZE"},
    Variable{"torchrun-launcher", "nnodes", "PET_NNODES"},
    Variable{"torchrun-launcher", "nproc_per_node", "PET_NPROC_PER_NODE"}};

// accelerate reads torch's name of a value before that of MPI.
constexpr std::array<std::pair<const char*, const char*>, 4> kAccelerate{
    {{"RANK", "PMI_RANK"},
     {"WORLD_SIZE", "PMI_SIZE"},
     {"LOCAL_RANK", "MPI_LOCALRANKID"},
     {"LOCAL_WORLD_SIZE", "MPI_LOCALNRANKS"}}};

// Lightning takes a LOCAL_RANK above RANK, which muster refuses.
constexpr const char* kAside = "LOCAL_RANK_ABOVE_RANK";

Error Wrong(const std::string& what) {
  return Error(Cause::kRankWorldMismatch, what);
}

// A step of Slurm as the arguments of TensorFlow's resolver describe it.
Status PutStep(const Json& args, sys::FakeEnv& env) {
  if (IntArg(args, "port_base").value_or(8888) != 8888) {
    return Error(Cause::kInternalError, "the ports of a step begin at 8888");
  }
  if (const auto jobs = args.find("jobs"); jobs != args.end()) {
    int tasks = 0;
    for (const Json& count : *jobs) {
      tasks += count.get<int>();
    }
    env.variables["SLURM_STEP_NUM_TASKS"] = std::to_string(tasks);
  }
  if (const auto tasks = TextArg(args, "tasks_per_node")) {
    MUSTER_ASSIGN(const auto hosts, resolve::ExpandHostList(
                                        env.variables["SLURM_STEP_NODELIST"]));
    env.variables["SLURM_STEP_TASKS_PER_NODE"] =
        *tasks + "(x" + std::to_string(hosts.size()) + ")";
  }
  if (const auto gpus = IntArg(args, "gpus_per_node")) {
    std::vector<std::string> ids;
    for (int id = 0; id < *gpus; ++id) {
      ids.push_back(std::to_string(id));
    }
    env.variables["CUDA_VISIBLE_DEVICES"] = Join(ids, ",");
  }
  return Ok();
}

// What the rendezvous URL env://?rank=R&world_size=N says of the process. With
// it torch takes no rank for granted, not even that of one process.
Status PutUrl(const std::string& text, sys::FakeEnv& env) {
  MUSTER_ASSIGN(const auto url, ParseTorchUrl(text, {}, {}));
  if (url.scheme != "env") {
    return Error(Cause::kInternalError, text + " names no variables");
  }
  if (url.rank) {
    env.variables["RANK"] = std::to_string(*url.rank);
  }
  if (url.world_size) {
    env.variables["WORLD_SIZE"] = std::to_string(*url.world_size);
  }
  return IsSet(env, "RANK")
             ? Ok()
             : Status(Error(Cause::kLaunchEnvMissing, "RANK is not set"));
}

void SetLocalRankAside(sys::FakeEnv& env) {
  const auto number = [&](const char* name) {
    return ParseInt(env.Get(name).value_or("0")).value_or(0);
  };
  if (number("LOCAL_RANK") > number("RANK")) {
    auto local = env.variables.extract("LOCAL_RANK");
    local.key() = kAside;
    env.variables.insert(std::move(local));
  }
}

// The jobs in order share the tasks of a step out; the own task follows.
Status ShareOut(const Json& args, Claim& claim) {
  const auto addresses = claim.tasks->jobs["worker"];
  const int rank = claim.process_id->value;
  claim.tasks.emplace();
  int first = 0;
  for (const auto& [job, count] :
       args["jobs"].get<std::map<std::string, int>>()) {
    for (int index = 0; index < count; ++index) {
      claim.tasks->jobs[job][index] = addresses.at(first + index);
    }
    if (rank >= first && rank < first + count) {
      claim.task_type->value = job;
      claim.task_id->value = rank - first;
    }
    first += count;
  }
  const auto& hosts = claim.rank_hosts;
  const auto most = std::count(hosts.begin(), hosts.end(), hosts.front());
  const int per_task = IntArg(args, "gpus_per_task").value_or(0);
  const int per_node = IntArg(args, "gpus_per_node").value_or(0);
  if (most * per_task > per_node) {
    return Wrong(std::to_string(most) + " tasks of a node ask for " +
                 std::to_string(per_task) + " GPUs each, the node has " +
                 std::to_string(per_node));
  }
  return Ok();
}

// The job of the process that drives the TPU, when it is to be in the map.
Status AddDriver(const Json& args, const sys::Host& host, Claim& claim) {
  const auto name = TextArg(args, "coordinator_name");
  if (!name) {
    return Ok();
  }
  auto address = TextArg(args, "coordinator_address");
  if (!address) {
    MUSTER_ASSIGN(const auto ip, cloud::Metadata(host).Get(
                                     "instance/network-interfaces/0/ip"));
    address = resolve::JoinHostPort(ip.value_or(""), 8479);
  }
  claim.tasks->jobs[*name] = resolve::ToTasks({*address});
  return Ok();
}

void SetPort(int port, TaskMap& map) {
  for (auto& [job, tasks] : map.jobs) {
    for (auto& [index, address] : tasks) {
      address.replace(address.rfind(':') + 1, std::string::npos,
                      std::to_string(port));
    }
  }
}

// What comes before the claims of TensorFlow's sources.
Status ApplyTensorflow(const std::string& source, const Json& args,
                       Claim& claim) {
  OverrideTask(args, claim);
  if (const auto port = IntArg(args, "port")) {
    SetPort(*port, *claim.tasks);
  }
  const bool given = std::any_of(
      args.items().begin(), args.items().end(), [](const auto& item) {
        return item.key() == "task_type" || item.key() == "task_id" ||
               item.key() == "master";
      });
  // A cluster of one task is driven in process.
  const bool local = claim.tasks->IsOneTask() &&
                     (source == "tf-config" || source == "sagemaker");
  if (claim.master && (!given || local || !claim.master->value.empty())) {
    return Ok();
  }
  return TakeMaster(args, claim);
}

// What comes before the claims of a source.
Status ApplyArguments(const std::string& source, const Json& args,
                      const sys::Host& host, Claim& claim) {
  if (source == "openmpi" && TextArg(args, "profile") == "jax" &&
      !claim.coordinator_host) {
    return Error(Cause::kLaunchEnvMissing, "the coordinator is not known");
  }
  if (source == "torch") {
    MUSTER_ASSIGN(const auto local, resolve::NumberVariable(host.env, kAside));
    claim.local_process_id = local ? local : claim.local_process_id;
  }
  if (!claim.tasks || claim.tasks->jobs.empty()) {
    return Ok();
  }
  if (source == "slurm" && args.contains("jobs")) {
    MUSTER_TRY(ShareOut(args, claim));
  }
  if (source == "tpu") {
    MUSTER_TRY(AddDriver(args, host, claim));
  }
  if (const auto job = TextArg(args, "task_type");
      job && source == "gce-group") {
    claim.tasks->jobs = {{*job, claim.tasks->jobs["worker"]}};
  }
  return ApplyTensorflow(source, args, claim);
}

}  // namespace

Status PutArguments(const std::string& source, const Json& args,
                    sys::FakeEnv& env) {
  if (const auto token = TextArg(args, "access_token")) {
    env.variables["CLOUDSDK_AUTH_ACCESS_TOKEN"] = *token;
  }
  for (const Variable& one : kVariables) {
    const auto value = TextArg(args, one.argument);
    if (value && source == one.source) {
      env.variables[one.name] = *value;
    }
  }
  if (source == "launcher" && IntArg(args, "nproc").value_or(1) < 1) {
    return Wrong("nproc must be 1 or more");
  }
  if (source == "hostfile") {
    env.cores = IntArg(args, "default_slots").value_or(env.cores);
  }
  if (const auto tpu = args.find("tpu");
      tpu != args.end() && tpu->is_array() && tpu->size() != 1) {
    return Error(
        Cause::kClusterSpecInvalid,
        Count(std::ssize(*tpu), "TPU") + " are named: one run uses one");
  }
  if (source == "slurm") {
    return PutStep(args, env);
  }
  if (source == "mpi-env") {
    for (const auto& [torch, mpi] : kAccelerate) {
      if (const auto value = env.Get(torch)) {
        env.variables[mpi] = *value;
      }
    }
  }
  // JAX takes any address; muster takes one that only this host reaches when
  // all processes are here.
  if (source == "openmpi" && TextArg(args, "profile") == "jax") {
    env.variables.emplace("OMPI_COMM_WORLD_LOCAL_SIZE",
                          env.Get("OMPI_COMM_WORLD_SIZE").value_or(""));
  }
  if (source == "torch") {
    SetLocalRankAside(env);
    const auto url = TextArg(args, "url");
    return url ? PutUrl(*url, env) : Ok();
  }
  return Ok();
}

Result<Claim> AskSource(const std::string& name, const Json& args,
                        const sys::Host& host) {
  for (const resolve::Source* source : resolve::AllSources()) {
    if (source->name != name) {
      continue;
    }
    resolve::Request request = ToRequest(args);
    request.source = name;
    // Which node this is, and that torchrun itself starts on it.
    if (name == "hostfile") {
      request.rank = 0;
    } else if (name == "torchrun-launcher") {
      request.processes = 1;
    }
    MUSTER_ASSIGN(Claim claim, source->read(request, host));
    MUSTER_TRY(ApplyArguments(name, args, host, claim));
    return claim;
  }
  return Error(Cause::kInternalError, "no source is `" + name + "`");
}

void OverrideTask(const Json& args, Claim& claim) {
  const auto take = [](auto value, auto& place) {
    if (value) {
      place = {*std::move(value), "argument"};
    }
  };
  take(TextArg(args, "task_type"), claim.task_type);
  take(IntArg(args, "task_id"), claim.task_id);
  take(TextArg(args, "rpc_layer"), claim.rpc_layer);
}

Status TakeMaster(const Json& args, Claim& claim) {
  const Json master = args.value("master", Json::object());
  auto type = TextArg(master, "task_type");
  auto index = IntArg(master, "task_id");
  auto layer = TextArg(master, "rpc_layer");
  const auto take = [](const auto& claimed, auto& place) {
    if (claimed && !place) {
      place = claimed->value;
    }
  };
  take(claim.task_type, type);
  take(claim.task_id, index);
  take(claim.rpc_layer, layer);
  if (!type || !index) {
    claim.master = Sourced<std::string>{"", "no task is named"};
    return Ok();
  }
  MUSTER_ASSIGN(const auto address, AddressOf(*claim.tasks, *type, *index));
  claim.master = Sourced<std::string>{
      layer.value_or("").empty() ? address : *layer + "://" + address,
      "the task"};
  return Ok();
}

Result<const TaskMap::Tasks*> JobOf(const TaskMap& map,
                                    const std::string& job) {
  const auto found = map.jobs.find(job);
  if (found == map.jobs.end()) {
    return Error(
        Cause::kClusterSpecInvalid,
        "there is no job `" + Printable(job) + "` (" + map.JobNames() + ")");
  }
  return &found->second;
}

Result<std::string> AddressOf(const TaskMap& map, const std::string& job,
                              int index) {
  MUSTER_ASSIGN(const auto* tasks, JobOf(map, job));
  const auto found = tasks->find(index);
  if (found == tasks->end()) {
    return Error(Cause::kClusterSpecInvalid, "the job `" + Printable(job) +
                                                 "` has no task " +
                                                 std::to_string(index));
  }
  return found->second;
}

}  // namespace muster::conformance
