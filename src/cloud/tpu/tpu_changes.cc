// SPDX-License-Identifier: Apache-2.0
// The requests of TpuApi that change something.
#include <utility>

#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "cloud/tpu/tpu_api.h"
#include "cloud/tpu/tpu_journal.h"

namespace muster::cloud {
namespace {

std::string Named(const char* kind, const std::string& name,
                  const std::string& type = "") {
  return std::string(kind) + " `" + Printable(name) + "`" +
         (type.empty() ? "" : " (" + Printable(type) + ")");
}

Json NodeJson(const NewTpu& tpu) {
  Json node{{"networkConfig", {{"enableExternalIps", true}}}};
  if (Json like = Json::parse(tpu.like, nullptr, false); like.is_object()) {
    node = std::move(like);
  }
  node["acceleratorType"] = tpu.type;
  node["runtimeVersion"] = tpu.version;
  if (!At(node, {"labels"}).is_object()) {
    node["labels"] = Json::object();
  }
  node["labels"][kRequestLabel] = tpu.request;
  const bool is_chosen = node.contains("schedulingConfig");
  if (!is_chosen &&
      (tpu.scheduling == "spot" || tpu.scheduling == "reserved")) {
    node["schedulingConfig"] = {{tpu.scheduling, true}};
  }
  return node;
}

sys::HttpRequest Post(std::string url, const Json& body) {
  sys::HttpRequest request{.url = std::move(url), .method = "POST"};
  request.headers["Content-Type"] = "application/json";
  request.body = body.dump();
  return request;
}

}  // namespace

Operation TpuApi::ToOperation(const Json& json, const Question& question) {
  Operation operation{.name = TextOf(json, "name")};
  const Json& done = At(json, {"done"});
  operation.done = done.is_boolean() && done.get<bool>();
  if (operation.done && json.contains("error")) {
    operation.error = ErrorOf(ClassifyStatus(json["error"]), question,
                              credentials_.Who(), sender_);
  }
  return operation;
}

Result<Operation> TpuApi::Change(sys::HttpRequest request,
                                 const Question& question) {
  MUSTER_ASSIGN(const Json json,
                Send(std::move(request), Repeat::kOnce, question));
  return ToOperation(json, question);
}

Result<Operation> TpuApi::CreateNode(const NewTpu& tpu) {
  Question question =
      Ask(Named("TPU", tpu.name, tpu.type), "tpu.nodes.create", tpu.zone);
  question.type = tpu.type;
  question.name = tpu.name;
  return Change(
      Post(Url(tpu.zone) + "/nodes?nodeId=" + sys::PercentEncode(tpu.name),
           NodeJson(tpu)),
      question);
}

Result<Operation> TpuApi::CreateQueued(const NewTpu& tpu) {
  Question question = Ask(Named("queued resource", tpu.name, tpu.type),
                          "tpu.nodes.create", tpu.zone);
  question.type = tpu.type;
  question.name = tpu.name;
  Json node = NodeJson(tpu);
  node.erase("schedulingConfig");
  Json body{
      {"tpu",
       {{"nodeSpec",
         {{{"parent", "projects/" + project_.value + "/locations/" + tpu.zone},
           {"nodeId", tpu.name}}}}}}};
  if (tpu.scheduling == "spot") {
    body["spot"] = Json::object();
  } else if (tpu.scheduling == "reserved") {
    node["schedulingConfig"] = {{"reserved", true}};
  }
  body["tpu"]["nodeSpec"][0]["node"] = std::move(node);
  if (tpu.valid > Duration::zero()) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(tpu.valid);
    body["queueingPolicy"]["validUntilDuration"] =
        std::to_string(seconds.count()) + "s";
  }
  return Change(
      Post(Url(tpu.zone) + "/queuedResources?queuedResourceId=" +
               sys::PercentEncode(tpu.name) + "&requestId=" + tpu.request,
           body),
      question);
}

Result<Operation> TpuApi::DeleteNode(const std::string& zone,
                                     const std::string& name) {
  Question question = Ask(Named("TPU", name), "tpu.nodes.delete", zone);
  question.name = name;
  return Change({.url = Url(zone) + "/nodes/" + sys::PercentEncode(name),
                 .method = "DELETE"},
                question);
}

Result<Operation> TpuApi::DeleteQueued(const std::string& zone,
                                       const std::string& name) {
  Question question =
      Ask(Named("queued resource", name), "tpu.nodes.delete", zone);
  question.name = name;
  return Change({.url = Url(zone) + "/queuedResources/" +
                        sys::PercentEncode(name) + "?force=true",
                 .method = "DELETE"},
                question);
}

Result<Operation> TpuApi::ChangeNode(const std::string& zone,
                                     const std::string& name,
                                     const std::string& verb) {
  Question question = Ask(Named("TPU", name), "tpu.nodes." + verb, zone);
  question.name = name;
  return Change(
      Post(Url(zone) + "/nodes/" + sys::PercentEncode(name) + ":" + verb,
           Json::object()),
      question);
}

Result<Operation> TpuApi::OperationOf(const std::string& operation,
                                      const std::string& what,
                                      const std::string& type) {
  const ResourceName name = SplitResourceName(operation);
  Question question = Ask(what, "tpu.operations.get", name.zone);
  question.type = type;
  MUSTER_ASSIGN(const Json json, Send({.url = Url(name.zone) + "/operations/" +
                                              sys::PercentEncode(name.id)},
                                      Repeat::kRead, question));
  return ToOperation(json, question);
}

}  // namespace muster::cloud
