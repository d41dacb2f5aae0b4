// SPDX-License-Identifier: Apache-2.0
#include "cloud/tpu/tpu_api.h"

#include <set>
#include <utility>

#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "cloud/tpu/tpu_journal.h"
#include "cloud/tpu/tpu_server.h"

namespace muster::cloud {
namespace {

constexpr std::size_t kMaxChange = 8U << 20;
constexpr int kMaxPages = 1000;

std::string InZone(const std::string& zone) {
  return zone == "-" ? "all zones" : "zone " + Printable(zone);
}

std::string PrintableLastPart(const std::string& path) {
  return Printable(path.substr(path.rfind('/') + 1));
}

// The name of the server and what it sent instead.
Error NoAnswer(const std::string& url, const Question& question,
               const std::string& why) {
  return Error(Cause::kNetWrongEndpoint,
               "`" + Printable(sys::SplitUrl(url).host) +
                   "` did not send a Cloud TPU API response for " +
                   question.what + ": " + why);
}

Result<Json> ReadAnswer(const sys::HttpResponse& response,
                        const std::string& url, const Question& question) {
  auto json = ParseJson(response.body, Cause::kNetWrongEndpoint, "");
  if (json && json->is_object()) {
    return json;
  }
  const bool page = Trim(response.body).starts_with("<");
  return NoAnswer(url, question,
                  page ? "received a web page, as a portal or proxy sends it"
                       : "the response is not a JSON object");
}

template <typename T, typename Make>
Listing<T> Made(const Listing<Json>& all, Make make) {
  Listing<T> listing{.unreachable = all.unreachable};
  for (const Json& one : all.items) {
    listing.items.push_back(make(one));
  }
  return listing;
}

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
  request.body = Dump(body);
  return request;
}

}  // namespace

TpuApi::TpuApi(const sys::Host& host, Credentials credentials,
               Sourced<std::string> project, RetryLimits request_timeout)
    : credentials_(std::move(credentials)),
      project_(std::move(project)),
      sender_(host, std::move(request_timeout)) {}

Question TpuApi::Ask(std::string what, std::string permission,
                     const std::string& zone) const {
  return {.what = std::move(what),
          .permission = std::move(permission),
          .project = project_.value,
          .project_source = project_.source,
          .zone = zone == "-" ? "" : zone};
}

std::string TpuApi::Url(const std::string& zone) const {
  return TpuUrl(sender_.host().env, project_.value, zone);
}

Result<Json> TpuApi::Send(sys::HttpRequest request, Repeat repeat,
                          const Question& question) {
  request.most_bytes = kMaxChange;
  for (bool renewed = false;; renewed = true) {
    MUSTER_ASSIGN(const Token* const token, credentials_.Get(sender_));
    auto response = sender_.Send(
        WithBearer(request, {.token = token->text,
                             .quota_project = credentials_.quota_project()}),
        repeat);
    if (!response) {
      return std::move(response).error().While("requesting " + question.what);
    }
    if (response->status == 200) {
      return ReadAnswer(*response, request.url, question);
    }
    if (response->status == 401 && !renewed && credentials_.Reject()) {
      continue;
    }
    return ErrorOf(Classify(*response), question, credentials_.Who(), sender_);
  }
}

Result<Listing<Json>> TpuApi::All(const std::string& base,
                                  const std::string& kind,
                                  const Question& question) {
  Listing<Json> all;
  std::set<std::string> lost;
  std::set<std::string> seen;
  std::string page;
  do {
    const std::string url =
        base + "/" + kind + "?pageSize=1000" +
        (page.empty() ? "" : "&pageToken=" + sys::PercentEncode(page));
    MUSTER_ASSIGN(const Json answer,
                  Send({.url = url}, Repeat::kRead, question));
    for (const Json& one : ListOf(answer, kind.c_str())) {
      all.items.push_back(one);
    }
    for (const Json& one : ListOf(answer, "unreachable")) {
      if (one.is_string()) {
        lost.insert(PrintableLastPart(one.get<std::string>()));
      }
    }
    page = TextOf(answer, "nextPageToken");
    if (!page.empty() &&
        (!seen.insert(page).second || std::ssize(seen) > kMaxPages)) {
      return NoAnswer(url, question, "the response has too many pages");
    }
  } while (!page.empty());
  all.unreachable.assign(lost.begin(), lost.end());
  return all;
}

Result<Listing<TpuNode>> TpuApi::Nodes(const std::string& zone) {
  MUSTER_ASSIGN(const auto all,
                All(Url(zone), "nodes",
                    Ask("TPUs of " + InZone(zone), "tpu.nodes.list", zone)));
  return Made<TpuNode>(all, ToTpuNode);
}

Result<TpuNode> TpuApi::Node(const std::string& zone, const std::string& name) {
  Question question = Ask("TPU `" + Printable(name) + "` of " + InZone(zone),
                          "tpu.nodes.get", zone);
  question.name = name;
  MUSTER_ASSIGN(const Json json,
                Send({.url = Url(zone) + "/nodes/" + sys::PercentEncode(name)},
                     Repeat::kRead, question));
  return ToTpuNode(json);
}

Result<Listing<QueuedResource>> TpuApi::QueuedResources(
    const std::string& zone) {
  MUSTER_ASSIGN(const auto all, All(Url(zone), "queuedResources",
                                    Ask("queued resources of " + InZone(zone),
                                        "tpu.nodes.list", zone)));
  return Made<QueuedResource>(all, ToQueuedResource);
}

Result<QueuedResource> TpuApi::QueuedResourceOf(const std::string& zone,
                                                const std::string& name) {
  Question question =
      Ask("queued resource `" + Printable(name) + "` of " + InZone(zone),
          "tpu.nodes.get", zone);
  question.name = name;
  MUSTER_ASSIGN(const Json json, Send({.url = Url(zone) + "/queuedResources/" +
                                              sys::PercentEncode(name)},
                                      Repeat::kRead, question));
  return ToQueuedResource(json);
}

Result<Listing<AcceleratorType>> TpuApi::Types(const std::string& zone) {
  MUSTER_ASSIGN(const auto all, All(Url(zone), "acceleratorTypes",
                                    Ask("accelerator types of " + InZone(zone),
                                        "tpu.acceleratortypes.list", zone)));
  return Made<AcceleratorType>(all, [](const Json& one) {
    const ResourceName name = SplitResourceName(TextOf(one, "name"));
    AcceleratorType type{.name = TextOf(one, "type"), .zone = name.zone};
    type.name = type.name.empty() ? name.id : type.name;
    for (const Json& config : ListOf(one, "acceleratorConfigs")) {
      type.topologies.push_back(TextOf(config, "topology"));
    }
    return type;
  });
}

Result<Listing<RuntimeVersion>> TpuApi::Versions(const std::string& zone) {
  MUSTER_ASSIGN(const auto all, All(Url(zone), "runtimeVersions",
                                    Ask("runtime versions of " + InZone(zone),
                                        "tpu.runtimeversions.list", zone)));
  return Made<RuntimeVersion>(all, [](const Json& one) {
    const ResourceName name = SplitResourceName(TextOf(one, "name"));
    const std::string version = TextOf(one, "version");
    return RuntimeVersion{.name = version.empty() ? name.id : version,
                          .zone = name.zone};
  });
}

Result<std::vector<std::string>> TpuApi::Zones() {
  MUSTER_ASSIGN(const auto all,
                All(Url(""), "locations",
                    Ask("zones with TPUs", "tpu.locations.list", "-")));
  std::vector<std::string> zones;
  for (const Json& one : all.items) {
    const std::string id = TextOf(one, "locationId");
    zones.push_back(id.empty() ? PrintableLastPart(TextOf(one, "name")) : id);
  }
  return zones;
}

// The requests that change something.

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
