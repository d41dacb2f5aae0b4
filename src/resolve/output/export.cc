// SPDX-License-Identifier: Apache-2.0
#include "resolve/output/export.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "resolve/formats/endpoint.h"

namespace muster::resolve {
namespace {

using Environment = std::map<std::string, std::string>;

constexpr int kTensorflowPort = 2222;
constexpr int kTpuPort = 8476;

Error Missing(const std::string& what) {
  return Error(Cause::kClusterSpecInvalid, what);
}

// Processes of one host share its name: each has the next port.
std::vector<std::string> AddressesOf(const Claim& claim, int first_port) {
  std::map<std::string, int> used;
  std::vector<std::string> addresses;
  for (const std::string& host : claim.rank_hosts) {
    addresses.push_back(JoinHostPort(host, first_port + used[host]++));
  }
  return addresses;
}

Json SpecJson(const Cluster& cluster) {
  TaskMap map;
  for (const Member& member : cluster.members) {
    if (member.address) {
      map.jobs[member.task][member.index] =
          muster::ToString(member.address->value);
    }
  }
  return ToJson(map);
}

Result<Environment> ForTensorflow(const Resolved& resolved) {
  const Cluster& cluster = resolved.cluster;
  Json config = Json::object();
  config["cluster"] = SpecJson(cluster);
  const auto placed = std::count_if(
      cluster.members.begin(), cluster.members.end(),
      [](const Member& member) { return member.address.has_value(); });
  if (cluster.size.value == 1 && placed == 0) {
    // One process needs no TF_CONFIG; without a name TPUClusterResolver() says
    // that it wants one.
    return resolved.claims.front().more.contains("tpu")
               ? Environment{{"TPU_NAME", "local"}}
               : Environment{};
  }
  if (placed < std::ssize(cluster.members)) {
    const auto addresses =
        AddressesOf(resolved.claims.front(), kTensorflowPort);
    if (addresses.size() != cluster.members.size()) {
      return Missing("TensorFlow needs the address of every member, and " +
                     cluster.size.source +
                     " does not contain them: use --hosts");
    }
    config["cluster"] = Json::object();
    config["cluster"]["worker"] = addresses;
  }
  if (!cluster.self) {
    return Missing(
        "TensorFlow needs the task of this process, and no source contains it");
  }
  const Member& self =
      cluster.members[static_cast<std::size_t>(cluster.self->value)];
  config["task"] = Json::object();
  config["task"]["type"] = self.task;
  config["task"]["index"] = self.index;
  return Environment{{"TF_CONFIG", Dump(config)}};
}

Result<Address> CoordinatorOf(const Cluster& cluster, const char* framework) {
  if (!cluster.coordinator) {
    return Missing(std::string(framework) +
                   " needs the address of a coordinator, and no source "
                   "contains one: set MASTER_ADDR and MASTER_PORT");
  }
  return cluster.coordinator->value;
}

int OwnRank(const Cluster& cluster) {
  return cluster.self ? cluster.self->value : 0;
}

Result<Environment> ForJax(const Resolved& resolved) {
  const Cluster& cluster = resolved.cluster;
  if (cluster.size.value == 1) {
    return Environment{};
  }
  MUSTER_ASSIGN(const auto coordinator, CoordinatorOf(cluster, "JAX"));
  return Environment{{"JAX_COORDINATOR_ADDRESS", muster::ToString(coordinator)},
                     {"JAX_NUM_PROCESSES", std::to_string(cluster.size.value)},
                     {"JAX_PROCESS_ID", std::to_string(OwnRank(cluster))}};
}

Result<Environment> ForTorch(const Resolved& resolved) {
  const Cluster& cluster = resolved.cluster;
  const Claim& winner = resolved.claims.front();
  if (cluster.self) {
    const Member& self =
        cluster.members[static_cast<std::size_t>(cluster.self->value)];
    if (!Trains(self)) {
      return Error(Cause::kUsageInvalid,
                   "flag --export is `torch`, which supports only training "
                   "ranks, but this process is " +
                       self.task + " " + std::to_string(self.index) + " (" +
                       cluster.self->source + ")");
    }
  }
  Environment env{{"RANK", std::to_string(OwnRank(cluster))},
                  {"WORLD_SIZE", std::to_string(cluster.WorldSize())}};
  if (winner.local_process_id) {
    env["LOCAL_RANK"] = std::to_string(winner.local_process_id->value);
  }
  if (winner.local_num_processes) {
    env["LOCAL_WORLD_SIZE"] = std::to_string(winner.local_num_processes->value);
  }
  if (cluster.size.value > 1 || cluster.coordinator) {
    MUSTER_ASSIGN(const auto coordinator, CoordinatorOf(cluster, "torch"));
    env["MASTER_ADDR"] = coordinator.host;
    env["MASTER_PORT"] = std::to_string(coordinator.port);
  }
  return env;
}

Result<Environment> ForTorchXla(const Resolved& resolved) {
  const Claim& winner = resolved.claims.front();
  Environment env{{"PJRT_DEVICE", "TPU"}};
  if (resolved.cluster.size.value == 1) {
    return env;
  }
  if (winner.rank_hosts.empty()) {
    return Missing("torch_xla needs the hosts of a TPU slice, and " +
                   winner.source + " does not list them");
  }
  env["TPU_WORKER_HOSTNAMES"] = Join(winner.rank_hosts, ",");
  env["TPU_WORKER_ID"] = std::to_string(OwnRank(resolved.cluster));
  const auto addresses = AddressesOf(winner, kTpuPort);
  const auto own = static_cast<std::size_t>(OwnRank(resolved.cluster));
  env["TPU_PROCESS_ADDRESSES"] = Join(addresses, ",");
  if (own < addresses.size()) {
    env["TPU_PROCESS_PORT"] =
        addresses[own].substr(addresses[own].rfind(':') + 1);
  }
  env["CLOUD_TPU_TASK_ID"] = env["TPU_WORKER_ID"];
  return env;
}

// 'value' for a shell; a quote inside ends, escapes and begins it again.
std::string ShellQuoted(const std::string& value) {
  std::string text = "'";
  for (const char c : value) {
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return text + "'";
}

std::string PythonQuoted(const std::string& value) {
  std::string text = "'";
  for (const char c : value) {
    if (c == '\\' || c == '\'') {
      text += '\\';
    }
    text += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return text + "'";
}

// JAX reads the coordinator's variable and no other: the rest are arguments.
std::string JaxCall(const Cluster& cluster) {
  if (cluster.size.value == 1 || !cluster.coordinator) {
    return "";
  }
  return "# JAX: jax.distributed.initialize(" +
         PythonQuoted(muster::ToString(cluster.coordinator->value)) + ", " +
         std::to_string(cluster.size.value) + ", " +
         std::to_string(OwnRank(cluster)) + ")\n";
}

// What every framework that can be told anything is told.
Environment ForAll(const Resolved& resolved) {
  Environment all;
  for (const char* framework : {"tf", "jax", "torch"}) {
    const auto env = ExportFor(framework, resolved);
    if (env) {
      all.insert(env->begin(), env->end());
    }
  }
  return all;
}

}  // namespace

Result<Environment> ExportFor(std::string_view framework,
                              const Resolved& resolved) {
  if (framework == "tf") {
    return ForTensorflow(resolved);
  }
  if (framework == "jax") {
    return ForJax(resolved);
  }
  if (framework == "torch") {
    return ForTorch(resolved);
  }
  if (framework == "torch_xla") {
    return ForTorchXla(resolved);
  }
  return Error(Cause::kUsageInvalid,
               "flag --export is `" + Printable(framework) +
                   "`, expected tf, jax, torch, torch_xla, shell or python");
}

Result<std::string> ExportText(std::string_view what,
                               const Resolved& resolved) {
  std::string text;
  if (what == "python") {
    text = "import os\nos.environ.update({\n";
    for (const auto& [name, value] : ForAll(resolved)) {
      text += "    " + PythonQuoted(name) + ": " + PythonQuoted(value) + ",\n";
    }
    return text + "})\n" + JaxCall(resolved.cluster);
  }
  Environment env;
  if (what == "shell") {
    env = ForAll(resolved);
  } else {
    MUSTER_ASSIGN(env, ExportFor(what, resolved));
  }
  for (const auto& [name, value] : env) {
    text += "export " + name + "=" + ShellQuoted(value) + "\n";
  }
  return text;
}

std::string SpecText(const Cluster& cluster) {
  std::vector<std::string> jobs;
  const Json spec = SpecJson(cluster);
  for (const auto& [job, tasks] : spec.items()) {
    std::vector<std::string> addresses;
    for (const auto& [index, address] : tasks.items()) {
      const std::string quoted = PythonQuoted(address.get<std::string>());
      std::string key = tasks.is_array() ? "" : index + ": ";
      addresses.push_back(key.append(quoted));
    }
    std::string job_text = PythonQuoted(job);
    job_text += tasks.is_array() ? ": [" : ": {";
    job_text += Join(addresses, ", ");
    job_text += tasks.is_array() ? "]" : "}";
    jobs.push_back(std::move(job_text));
  }
  return "{" + Join(jobs, ", ") + "}\n";
}

}  // namespace muster::resolve
