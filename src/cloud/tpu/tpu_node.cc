// SPDX-License-Identifier: Apache-2.0
#include "cloud/tpu/tpu_node.h"

#include <algorithm>

#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "cloud/api/timestamp.h"
#include "cloud/tpu/tpu_journal.h"
#include "muster/address.h"

namespace muster::cloud {
namespace {

std::string JoinPort(const std::string& ip, std::optional<int> port) {
  return ToString(Address{
      .host = ip, .port = static_cast<std::uint16_t>(port.value_or(8470))});
}

std::vector<std::string> Endpoints(const Json& json) {
  std::vector<std::string> endpoints;
  for (const Json& one : ListOf(json, "networkEndpoints")) {
    if (const auto ip = TextOf(one, "ipAddress"); !ip.empty()) {
      endpoints.push_back(JoinPort(ip, NumberOf(one, "port")));
    }
  }
  if (endpoints.empty() && !TextOf(json, "ipAddress").empty()) {
    endpoints.push_back(
        JoinPort(TextOf(json, "ipAddress"), NumberOf(json, "port")));
  }
  return endpoints;
}

std::vector<std::string> ExternalAddresses(const Json& json) {
  std::vector<std::string> addresses;
  for (const Json& one : ListOf(json, "networkEndpoints")) {
    if (!TextOf(one, "ipAddress").empty()) {
      addresses.push_back(TextOf(At(one, {"accessConfig"}), "externalIp"));
    }
  }
  const bool some =
      std::any_of(addresses.begin(), addresses.end(),
                  [](const std::string& one) { return !one.empty(); });
  return some ? addresses : std::vector<std::string>();
}

bool IsTrue(const Json& json, const char* key) {
  const Json& value = At(json, {key});
  return value.is_boolean() && value.get<bool>();
}

std::string Scheduling(const Json& config) {
  return IsTrue(config, "spot") || IsTrue(config, "preemptible") ? "spot"
         : IsTrue(config, "reserved")                            ? "reserved"
                                                                 : "on-demand";
}

// A reservation has a name, or is asked for on the node or, in v2alpha1, with
// the guarantee.
std::string QueuedScheduling(const Json& queued) {
  if (!At(queued, {"reservationName"}).empty() ||
      IsTrue(At(queued, {"guaranteed"}), "reserved")) {
    return "reserved";
  }
  if (queued.contains("spot")) {
    return "spot";
  }
  const Json& nodes = ListOf(At(queued, {"tpu"}), "nodeSpec");
  return nodes.empty()
             ? "on-demand"
             : Scheduling(At(nodes.front(), {"node", "schedulingConfig"}));
}

std::string Chosen(const Json& json) {
  constexpr const char* kFields[] = {
      "description",      "networkConfig", "serviceAccount",
      "schedulingConfig", "dataDisks",     "shieldedInstanceConfig",
      "labels",           "metadata",      "tags"};
  Json chosen = Json::object();
  for (const char* field : kFields) {
    if (json.is_object() && json.contains(field)) {
      chosen[field] = json[field];
    }
  }
  // The API takes one of the two.
  if (!chosen.contains("networkConfig") &&
      !ListOf(json, "networkConfigs").empty()) {
    chosen["networkConfigs"] = json["networkConfigs"];
  }
  return Dump(chosen);
}

}  // namespace

std::string ProjectOf(const std::string& path) {
  const auto parts = Split(path, '/');
  const auto at = std::find(parts.begin(), parts.end(), "projects");
  return std::distance(at, parts.end()) > 1 ? *std::next(at) : "";
}

ResourceName SplitResourceName(const std::string& text) {
  const auto parts = Split(text, '/');
  return parts.size() == 6 && parts[0] == "projects" && parts[2] == "locations"
             ? ResourceName{parts[1], parts[3], parts[5]}
             : ResourceName{};
}

TpuNode ToTpuNode(const Json& json) {
  const ResourceName name = SplitResourceName(TextOf(json, "name"));
  TpuNode node{
      .name = name.id,
      .zone = name.zone,
      .project = name.project,
      .id = TextOf(json, "id"),
      .state = TextOf(json, "state"),
      .health = TextOf(json, "health"),
      .health_description = TextOf(json, "healthDescription"),
      .accelerator_type = TextOf(json, "acceleratorType"),
      .topology = TextOf(At(json, {"acceleratorConfig"}), "topology"),
      .runtime_version = TextOf(json, "runtimeVersion"),
      .scheduling = Scheduling(At(json, {"schedulingConfig"})),
      .queued_resource = SplitResourceName(TextOf(json, "queuedResource")).id,
      .created = TextOf(json, "createTime"),
      .network = TextOf(At(json, {"networkConfig"}), "network"),
      .endpoints = Endpoints(json)};
  node.request = TextOf(At(json, {"labels"}), kRequestLabel);
  node.network_project = ProjectOf(node.network);
  if (node.network_project.empty()) {
    node.network_project = node.project;
  }
  node.network = node.network.substr(node.network.rfind('/') + 1);
  if (node.runtime_version.empty()) {
    node.runtime_version = TextOf(json, "tensorflowVersion");
  }
  node.external_addresses = ExternalAddresses(json);
  const std::string os_login = TextOf(At(json, {"metadata"}), "enable-oslogin");
  node.os_login =
      os_login == "TRUE" || os_login == "True" || os_login == "true";
  node.chosen = Chosen(json);
  for (const Json& one : ListOf(json, "symptoms")) {
    const auto at = ParseTimestamp(TextOf(one, "createTime"));
    node.symptoms.push_back(
        {.type = TextOf(one, "symptomType"), .at = at.value_or(WallTime())});
  }
  return node;
}

QueuedResource ToQueuedResource(const Json& json) {
  const ResourceName name = SplitResourceName(TextOf(json, "name"));
  QueuedResource queued{
      .name = name.id,
      .zone = name.zone,
      .project = name.project,
      .state = TextOf(At(json, {"state"}), "state"),
      .created = TextOf(json, "createTime"),
      .reason = TextOf(At(json, {"state", "failedData", "error"}), "message"),
      .scheduling = QueuedScheduling(json)};
  queued.code =
      NumberOf(At(json, {"state", "failedData", "error"}), "code").value_or(0);
  for (const Json& one : ListOf(At(json, {"tpu"}), "nodeSpec")) {
    std::string id = TextOf(one, "nodeId");
    const Json& many = At(one, {"multisliceParams"});
    if (id.empty() && !many.empty()) {
      id = TextOf(many, "nodeIdPrefix") + "-*";
    }
    queued.nodes.push_back(std::move(id));
    queued.accelerator_type = TextOf(At(one, {"node"}), "acceleratorType");
    queued.runtime_version = TextOf(At(one, {"node"}), "runtimeVersion");
    queued.request = TextOf(At(one, {"node", "labels"}), kRequestLabel);
  }
  return queued;
}

}  // namespace muster::cloud
