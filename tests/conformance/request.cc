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
  request.host_file = TextArg(args, "hostfile");
  if (const Json* selectors = Find(args, "selectors")) {
    for (const auto& [job, labels] : selectors->items()) {
      request.selectors.emplace_back(job,
                                     labels.get<std::vector<std::string>>());
    }
  }
  if (const Json* tpu = Find(args, "tpu")) {
    request.cloud.tpu =
        (tpu->is_array() ? tpu->at(0) : *tpu).get<std::string>();
  }
  request.cloud.project = TextArg(args, "project");
  request.cloud.zone = TextArg(args, "zone");
  request.cloud.instance_group = TextArg(args, "instance_group");
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
