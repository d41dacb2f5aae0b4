// SPDX-License-Identifier: Apache-2.0
#include "request.h"

#include "base/json.h"
#include "base/text.h"

namespace muster::conformance {
namespace {

using resolve::Claim;
using resolve::Number;
using resolve::Request;
using resolve::Text;

const Json* Find(const Json& args, const char* key) {
  const auto found = args.find(key);
  return found == args.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::vector<std::string>> ListArg(const Json& args,
                                                const char* key) {
  const Json* found = Find(args, key);
  if (found == nullptr) {
    return std::nullopt;
  }
  return found->is_array()
             ? found->get<std::vector<std::string>>()
             : std::vector<std::string>{found->get<std::string>()};
}

void TakeSlurm(const Json& args, resolve::SlurmRequest& slurm) {
  if (const Json* jobs = Find(args, "jobs")) {
    slurm.jobs = jobs->get<std::map<std::string, int>>();
  }
  slurm.port_base = IntArg(args, "port_base").value_or(slurm.port_base);
  const Json* tasks = Find(args, "tasks_per_node");
  if (tasks != nullptr && tasks->is_object()) {
    slurm.tasks_of_node = tasks->get<std::map<std::string, int>>();
  } else {
    slurm.tasks_per_node = IntArg(args, "tasks_per_node");
  }
  slurm.gpus_per_node = IntArg(args, "gpus_per_node");
  slurm.gpus_per_task = IntArg(args, "gpus_per_task");
  if (const Json* set = Find(args, "auto_set_gpu")) {
    slurm.auto_set_gpu = set->get<bool>();
  }
}

void TakeCloud(const Json& args, resolve::CloudRequest& cloud) {
  cloud.tpu = ListArg(args, "tpu");
  cloud.project = TextArg(args, "project");
  cloud.zone = TextArg(args, "zone");
  cloud.coordinator_name = TextArg(args, "coordinator_name");
  cloud.coordinator_address = TextArg(args, "coordinator_address");
  cloud.instance_group = TextArg(args, "instance_group");
  cloud.access_token = TextArg(args, "access_token");
}

void Put(Json& json, const char* key, const Number& value) {
  if (value) {
    json[key] = value->value;
  }
}

void Put(Json& json, const char* key, const Text& value) {
  if (value) {
    json[key] = value->value;
  }
}

void PutNumbers(const Claim& claim, Json& json) {
  Put(json, "num_processes", claim.num_processes);
  Put(json, "process_id", claim.process_id);
  Put(json, "local_process_id", claim.local_process_id);
  Put(json, "local_num_processes", claim.local_num_processes);
  Put(json, "num_nodes", claim.num_nodes);
  Put(json, "node_rank", claim.node_rank);
  Put(json, "nproc_per_node", claim.nproc_per_node);
  Put(json, "num_slices", claim.num_slices);
  Put(json, "slice_id", claim.slice_id);
  Put(json, "coordinator_host", claim.coordinator_host);
  Put(json, "coordinator_port", claim.coordinator_port);
}

Json ToJson(const FactValue& value) {
  return std::visit([](const auto& one) { return Json(one); }, value);
}

// "slots.HOST" and the like are objects in the vectors.
void PutMore(const Claim& claim, Json& json) {
  for (const auto& [key, value] : claim.more) {
    bool grouped = false;
    for (const std::string group : {"slots", "max_slots", "rdzv_conf"}) {
      if (key.starts_with(group + ".")) {
        json[group][key.substr(group.size() + 1)] = ToJson(value);
        grouped = true;
      }
    }
    if (!grouped) {
      json[key] = ToJson(value);
    }
  }
  if (const auto gpus = claim.more.find("num_gpus"); gpus != claim.more.end()) {
    json["num_accelerators"]["GPU"] = ToJson(gpus->second);
  }
  if (const auto ids = claim.more.find("local_device_ids");
      ids != claim.more.end()) {
    json["local_device_ids"] = Json::array();
    for (const auto& id : Split(std::get<std::string>(ids->second), ',')) {
      json["local_device_ids"].push_back(*ParseInt(id));
    }
  }
}

}  // namespace

std::optional<int> IntArg(const Json& args, const char* key) {
  const Json* found = Find(args, key);
  return found != nullptr && found->is_number_integer()
             ? std::optional(found->get<int>())
             : std::nullopt;
}

std::optional<std::string> TextArg(const Json& args, const char* key) {
  const Json* found = Find(args, key);
  if (found == nullptr) {
    return std::nullopt;
  }
  return found->is_string() ? found->get<std::string>() : found->dump();
}

Request ToRequest(const Json& args) {
  Request request;
  request.profile = TextArg(args, "profile").value_or("");
  request.task_type = TextArg(args, "task_type");
  request.task_id = IntArg(args, "task_id");
  request.rpc_layer = TextArg(args, "rpc_layer");
  request.port = IntArg(args, "port");
  request.coordinator = TextArg(args, "coordinator_address");
  request.num_processes = IntArg(args, "num_processes");
  if (!request.num_processes) {
    request.num_processes = IntArg(args, "world_size");
  }
  request.process_id = IntArg(args, "process_id");
  request.nproc = IntArg(args, "nproc");
  request.nnodes = TextArg(args, "nnodes");
  request.nproc_per_node = TextArg(args, "nproc_per_node");
  request.url = TextArg(args, "url");
  request.host_file = TextArg(args, "hostfile");
  request.default_slots = IntArg(args, "default_slots");
  if (const Json* selectors = Find(args, "selectors")) {
    for (const auto& [job, labels] : selectors->items()) {
      request.selectors.emplace_back(job, *ListArg(*selectors, job.c_str()));
    }
  }
  if (const Json* master = Find(args, "master");
      master != nullptr && master->is_object()) {
    request.master = {.task_type = TextArg(*master, "task_type"),
                      .rpc_layer = TextArg(*master, "rpc_layer"),
                      .task_id = IntArg(*master, "task_id")};
  }
  TakeSlurm(args, request.slurm);
  TakeCloud(args, request.cloud);
  return request;
}

Json ToJson(const Claim& claim) {
  Json json = Json::object();
  PutNumbers(claim, json);
  if (!claim.hosts.empty()) {
    json["hosts"] = claim.hosts;
  }
  if (claim.tasks) {
    json["cluster_spec"] = resolve::ToJson(*claim.tasks);
  }
  Put(json, "task_type", claim.task_type);
  Put(json, "task_id", claim.task_id);
  Put(json, "rpc_layer", claim.rpc_layer);
  Put(json, "master", claim.master);
  Put(json, "accelerator_type", claim.accelerator_type);
  PutMore(claim, json);
  return json;
}

}  // namespace muster::conformance
