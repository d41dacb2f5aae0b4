// SPDX-License-Identifier: Apache-2.0
// TF_CONFIG: {"cluster": {task: [address, …] or {"index": address}},
//             "task": {"type": …, "index": …}}
#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "resolve/formats/address_list.h"
#include "resolve/formats/roles.h"
#include "resolve/self.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::tf_config {
namespace {

constexpr const char* kSourceText = "env TF_CONFIG";

Error Wrong(const std::string& place, const std::string& problem) {
  return Error(Cause::kClusterSpecInvalid, "TF_CONFIG" + place + " " + problem);
}

// An index as a number or as text.
Result<int> IndexOf(const Json& json, const std::string& place) {
  const std::optional<std::int64_t> index =
      json.is_string() ? ParseInt(json.get<std::string>()) : IntegerOf(json);
  if (!index) {
    return Wrong(
        place, "is " + Printable(Dump(json)) + ", which is not a whole number");
  }
  if (*index < 0 || *index > 65535) {
    return Wrong(
        place, "is " + std::to_string(*index) + ", which is not a task index");
  }
  return static_cast<int>(*index);
}

Status ReadTask(const Json& json, Claim& claim) {
  const auto task = json.find("task");
  if (task == json.end() || task->is_null()) {
    return Ok();
  }
  if (!task->is_object()) {
    return Wrong(".task",
                 std::string("is not an object but ") + task->type_name());
  }
  const auto type = task->find("type");
  if (type != task->end() && !type->is_null()) {
    if (!type->is_string()) {
      return Wrong(".task.type", "is not a string");
    }
    claim.task_type =
        Sourced<std::string>{type->get<std::string>(), kSourceText};
  }
  const auto index = task->find("index");
  if (index != task->end() && !index->is_null()) {
    MUSTER_ASSIGN(const int number, IndexOf(*index, ".task.index"));
    claim.task_id = Sourced<int>{number, kSourceText};
  }
  return Ok();
}

Result<Text> ReadText(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) {
    return Text();
  }
  if (!found->is_string()) {
    return Wrong("." + std::string(key), "is not a string");
  }
  return Text(Sourced<std::string>{found->get<std::string>(), kSourceText});
}

bool IsEmpty(const Json& json) {
  return json.is_null() || (json.is_object() && json.empty());
}

const Json* FindCluster(const Json& json) {
  // A Kubernetes operator writes the second name for jobs that may grow.
  for (const char* key : {"cluster", "sparseCluster"}) {
    const auto found = json.find(key);
    if (found != json.end() && !IsEmpty(*found)) {
      return &*found;
    }
  }
  return nullptr;
}

// The convention of Estimator: roles are checked, an evaluator sees no cluster.
Status ApplyEstimator(const Json& json, Claim& claim) {
  if (const auto service = json.find("service");
      service != json.end() && !service->is_null() && !service->is_object()) {
    return Wrong(".service", "is not an object");
  }
  if (const auto folder = json.find("model_dir");
      folder != json.end() && folder->is_string() &&
      folder->get<std::string>().empty()) {
    return Wrong(".model_dir", "is empty");
  }
  const auto type = claim.task_type ? std::optional(claim.task_type->value)
                                    : std::optional<std::string>();
  const auto index =
      claim.task_id ? std::optional(claim.task_id->value) : std::nullopt;
  auto role = EstimatorRoleOf(*claim.tasks, type, index);
  if (!role) {
    return std::move(role).error().While("while reading TF_CONFIG");
  }
  const bool evaluator =
      !claim.tasks->jobs.empty() && type.value_or("") == "evaluator";
  const bool alone = claim.tasks->jobs.empty();
  if (alone && !claim.task_type) {
    claim.task_type = Sourced<std::string>{"worker", "default of estimator"};
  }
  if (alone && !claim.task_id) {
    claim.task_id = Sourced<int>{0, "default of estimator"};
  }
  MUSTER_ASSIGN(const auto eval, ReadText(json, "eval_session_master"));
  claim.more["evaluation_master"] =
      eval && (evaluator || alone) ? eval->value : "";
  claim.more["is_chief"] = role->is_chief;
  claim.more["num_workers"] = std::int64_t{role->num_workers};
  claim.more["num_ps"] = std::int64_t{role->num_ps};
  if (role->global_id) {
    claim.more["global_id"] = std::int64_t{*role->global_id};
  }
  if (evaluator) {
    claim.tasks = TaskMap();
    claim.master = Sourced<std::string>{"", "an evaluator runs independently"};
  }
  if (!claim.rpc_layer) {
    claim.rpc_layer = Sourced<std::string>{"grpc", "default of estimator"};
  }
  return Ok();
}

Match Speak(const Request&, const sys::Host& host) {
  if (!IsSet(host.env, "TF_CONFIG")) {
    return Silent("TF_CONFIG is not set");
  }
  // One that names nothing is short; a long one is parsed once, by Read.
  const std::string text = *host.env.Get("TF_CONFIG");
  if (text.size() > 1024) {
    return Speaks();
  }
  const auto json = ParseJson(text, Cause::kClusterSpecInvalid, "");
  const bool nothing = json && json->is_object() &&
                       FindCluster(*json) == nullptr &&
                       (!json->contains("task") || IsEmpty((*json)["task"]));
  return nothing ? Silent("TF_CONFIG names neither a cluster nor a task")
                 : Speaks();
}

// An evaluator stands beside the cluster that it evaluates, and is a world of
// its own.
bool IsBeside(const Claim& claim, bool told_a_cluster) {
  return told_a_cluster && claim.task_type &&
         claim.task_type->value == "evaluator" &&
         !claim.tasks->jobs.contains("evaluator");
}

Cluster EvaluatorAlone(const Claim& claim) {
  const std::string why =
      std::string(kSourceText) + ": an evaluator is not part of the cluster";
  const int index = claim.task_id ? claim.task_id->value : 0;
  return {.members = {{.rank = 0, .task = "evaluator", .index = index}},
          .self = Sourced<int>{0, why},
          .coordinator = std::nullopt,
          .size = {1, why}};
}

Status FindTask(const Request& request, const sys::Host& host, Claim& claim) {
  const bool has_cluster = !claim.tasks->jobs.empty();
  if (!has_cluster && !claim.task_type && !claim.task_id) {
    claim.nothing = "TF_CONFIG names neither a cluster nor a task";
    return Ok();
  }
  if (!claim.task_type && !claim.task_id && has_cluster) {
    MUSTER_TRY(Complete(claim));
    auto self = FindSelf(claim.cluster, request, host);
    if (!self) {
      return std::move(self).error().While(
          "TF_CONFIG has a cluster but no task");
    }
    claim.cluster.self = *std::move(self);
    return Ok();
  }
  for (const auto& [key, there] :
       {std::pair("type", claim.task_type.has_value()),
        std::pair("index", claim.task_id.has_value())}) {
    if (!there) {
      return Wrong(".task", std::string("has no `") + key + "`");
    }
  }
  if (has_cluster) {
    return Ok();
  }
  if (claim.task_type->value != "worker" || claim.task_id->value != 0) {
    return Wrong(
        ".task",
        "is " + Printable(claim.task_type->value) + " " +
            std::to_string(claim.task_id->value) +
            " although there is no `cluster`: a single process is worker 0");
  }
  const std::string source = std::string(kSourceText) + ", without a cluster";
  claim.num_processes = Sourced<int>{1, source};
  claim.process_id = Sourced<int>{0, source};
  return Ok();
}

// What stands beside the cluster and the task.
Status ReadWords(const Json& json, Claim& claim) {
  MUSTER_ASSIGN(claim.rpc_layer, ReadText(json, "rpc_layer"));
  MUSTER_ASSIGN(claim.master, ReadText(json, "session_master"));
  MUSTER_ASSIGN(const auto environment, ReadText(json, "environment"));
  if (environment) {
    claim.more["environment"] = environment->value;
  }
  return Ok();
}

Result<Claim> Read(const Request& request, const sys::Host& host) {
  Claim claim{.source = "tf-config"};
  claim.tasks.emplace();
  const std::string text = host.env.Get("TF_CONFIG").value_or("");
  Json json = Json::object();
  if (!Trim(text).empty()) {
    MUSTER_ASSIGN(json,
                  ParseJson(text, Cause::kClusterSpecInvalid, "TF_CONFIG"));
  }
  if (!json.is_object()) {
    return Wrong("", std::string("is not an object but ") + json.type_name());
  }
  MUSTER_TRY(ReadTask(json, claim));
  if (const Json* map = FindCluster(json)) {
    MUSTER_ASSIGN(claim.tasks, TaskMapFromJson(*map, "TF_CONFIG.cluster"));
  }
  MUSTER_TRY(ReadWords(json, claim));
  if (request.profile == "estimator") {
    MUSTER_TRY(ApplyEstimator(json, claim));
  }
  if (IsBeside(claim, FindCluster(json) != nullptr)) {
    claim.cluster = EvaluatorAlone(claim);
    claim.master = Sourced<std::string>{"", "an evaluator runs independently"};
  } else if (!claim.master &&
             (claim.tasks->IsOneTask() || !claim.task_type || !claim.task_id)) {
    claim.master = Sourced<std::string>{"", "one task, or none is named"};
  }
  return claim;
}

Status Conclude(const Request& request, const sys::Host& host, Claim& claim) {
  if (!claim.cluster.members.empty()) {
    return Ok();  // an evaluator
  }
  MUSTER_TRY(FindTask(request, host, claim));
  return Complete(claim);
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{.name = "tf-config",
                               .precedence = 500,
                               .scope = Scope::kProcess,
                               .doc = "TensorFlow's TF_CONFIG",
                               .reads = "TF_CONFIG",
                               .match = Speak,
                               .read = Read,
                               .conclude = Conclude};

}  // namespace muster::resolve::tf_config
