// SPDX-License-Identifier: Apache-2.0
// The actions of `muster tpu` that only look.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "cli/answer.h"
#include "cli/tpu.h"

namespace muster::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string OrDash(const std::string& text) {
  return text.empty() ? "-" : Printable(text);
}

Json ToJson(const cloud::TpuNode& node) {
  Json symptoms = Json::array();
  for (const cloud::TpuSymptom& one : node.symptoms) {
    symptoms.push_back({{"type", one.type}, {"at", ToText(one.at)}});
  }
  return {{"name", node.name},
          {"zone", node.zone},
          {"state", node.state},
          {"health", node.health},
          {"health_description", node.health_description},
          {"accelerator_type", node.accelerator_type},
          {"topology", node.topology},
          {"runtime_version", node.runtime_version},
          {"scheduling", node.scheduling},
          {"queued_resource", node.queued_resource},
          {"created", node.created},
          {"network", node.network},
          {"endpoints", node.endpoints},
          {"external_addresses", node.external_addresses},
          {"symptoms", std::move(symptoms)}};
}

Json ToJson(const cloud::QueuedResource& queued) {
  return {{"name", queued.name},
          {"zone", queued.zone},
          {"state", queued.state},
          {"reason", queued.reason},
          {"nodes", queued.nodes},
          {"accelerator_type", queued.accelerator_type},
          {"runtime_version", queued.runtime_version},
          {"scheduling", queued.scheduling},
          {"created", queued.created}};
}

Json ToJson(const cloud::AcceleratorType& type) {
  return {{"name", type.name},
          {"zone", type.zone},
          {"topologies", type.topologies}};
}

Json ToJson(const cloud::RuntimeVersion& version) {
  return {{"name", version.name}, {"zone", version.zone}};
}

std::vector<std::string> RowOf(const cloud::TpuNode& node) {
  return {OrDash(node.name),
          OrDash(node.zone),
          OrDash(node.accelerator_type),
          OrDash(node.state),
          OrDash(node.health),
          std::to_string(node.endpoints.size()),
          OrDash(node.runtime_version),
          node.scheduling};
}

std::vector<std::string> RowOf(const cloud::QueuedResource& queued) {
  return {OrDash(queued.name),
          OrDash(queued.zone),
          OrDash(queued.accelerator_type),
          OrDash(queued.state),
          OrDash(Join(queued.nodes, ",")),
          queued.scheduling};
}

std::vector<std::string> RowOf(const cloud::AcceleratorType& type) {
  return {OrDash(type.name), OrDash(type.zone),
          OrDash(Join(type.topologies, ","))};
}

std::vector<std::string> RowOf(const cloud::RuntimeVersion& version) {
  return {OrDash(version.name), OrDash(version.zone)};
}

// How one kind of list is shown.
struct Shown {
  const char* what;    // "TPUs"
  const char* field;   // of the document: "tpus"
  const char* schema;  // "muster.tpu.list/1"
  std::vector<std::string> head;
};

void PrintUnreachable(const std::vector<std::string>& zones) {
  if (!zones.empty()) {
    PrintAside(
        "muster: warn these zones did not answer, and what they hold is "
        "not listed: " +
        Join(zones, ", ") + "\n");
  }
}

template <typename T>
void PrintListing(const TpuCall& call, const cloud::TpuApi& api,
                  const Sourced<std::string>& zone,
                  const cloud::Listing<T>& listing, const Shown& shown) {
  if (call.json()) {
    Json items = Json::array();
    for (const T& one : listing.items) {
      items.push_back(ToJson(one));
    }
    PrintDocument(
        {{"schema", shown.schema},
         {"project",
          {{"value", api.project().value}, {"source", api.project().source}}},
         {"zone", {{"value", zone.value}, {"source", zone.source}}},
         {shown.field, std::move(items)},
         {"unreachable", listing.unreachable}});
    return;
  }
  PrintUnreachable(listing.unreachable);
  if (call.flags().quiet) {
    for (const T& one : listing.items) {
      PrintResult(Printable(one.name) + "\n");
    }
    return;
  }
  if (listing.items.empty()) {
    PrintResult("no " + std::string(shown.what) + " in " +
                (zone.value == "-" ? "any zone"
                                   : "zone " + Printable(zone.value) + " (" +
                                         zone.source + ")") +
                " of " + OfProject(api) + "\n");
    return;
  }
  Rows rows{shown.head};
  for (const T& one : listing.items) {
    rows.push_back(RowOf(one));
  }
  PrintResult(TableText(rows));
}

// The one of that name in all zones, where no zone is told. tpu-not-found
// names those that there are; usage-invalid the zones that have one each.
template <typename T>
Result<T> FindAnywhere(const cloud::TpuApi& api,
                       const cloud::Listing<T>& listing,
                       const std::string& name, const std::string& what) {
  std::vector<const T*> found;
  std::vector<std::string> names;
  std::vector<std::string> zones;
  for (const T& one : listing.items) {
    names.push_back(Printable(one.name) + " (" + Printable(one.zone) + ")");
    if (one.name == name) {
      found.push_back(&one);
      zones.push_back(Printable(one.zone));
    }
  }
  PrintUnreachable(listing.unreachable);
  if (found.size() == 1) {
    return *found.front();
  }
  if (found.size() > 1) {
    return Error(Cause::kUsageInvalid,
                 "several zones have " + what + " `" + Printable(name) +
                     "`: " + Join(zones, ", ") + "; --zone names one");
  }
  return Error(Cause::kTpuNotFound,
               "there is no " + what + " `" + Printable(name) +
                   "` in any zone of " + OfProject(api) +
                   (names.empty() ? ", which has none at all"
                                  : "; there are: " + Join(names, ", ")));
}

// What the API says of one that is not in the zone, with where it is.
template <typename T>
Error WithOtherZones(Error error, const Result<cloud::Listing<T>>& everywhere,
                     const std::string& name) {
  std::vector<std::string> zones;
  if (everywhere) {
    for (const T& one : everywhere->items) {
      if (one.name == name) {
        zones.push_back(Printable(one.zone));
      }
    }
  }
  if (zones.empty()) {
    return error;
  }
  Error told(error.cause(),
             error.message() + "; it is in zone " + Join(zones, ", "));
  for (const Fact& fact : error.evidence()) {
    told = Error(std::move(told).With(fact));
  }
  return told;
}

Result<cloud::QueuedResource> FindQueued(const TpuCall& call,
                                         cloud::TpuApi& api) {
  const std::string& name = call.flags().name;
  MUSTER_ASSIGN(const auto zone, ToldZone(call, api));
  if (!zone) {
    MUSTER_ASSIGN(const auto all, api.QueuedResources("-"));
    return FindAnywhere(api, all, name, "queued resource");
  }
  auto queued = api.QueuedResourceOf(zone->value, name);
  if (!queued && queued.error().cause() == Cause::kTpuNotFound) {
    return WithOtherZones(std::move(queued).error(), api.QueuedResources("-"),
                          name);
  }
  return queued;
}

// What a state means for its user; empty: it speaks for itself.
std::string Meaning(const cloud::TpuNode& node) {
  if (node.state == "PREEMPTED" || node.state == "TERMINATED") {
    return "it was taken away, cannot be started again and still counts "
           "against the quota: delete it";
  }
  if (node.state == "READY" && !node.health.empty() &&
      node.health != "HEALTHY") {
    return "READY, but not usable as long as its health is " +
           Printable(node.health);
  }
  if (node.state == "READY" && node.endpoints.empty()) {
    return "READY, but it has no address yet";
  }
  return "";
}

std::string Meaning(const cloud::QueuedResource& queued) {
  if (queued.state == "FAILED" || queued.state == "SUSPENDED") {
    return "it is never queued again and still counts against the quota: "
           "delete it and make a new one";
  }
  return "";
}

}  // namespace

Result<cloud::TpuNode> FindNode(const TpuCall& call, cloud::TpuApi& api) {
  const std::string& name = call.flags().name;
  MUSTER_ASSIGN(const auto zone, ToldZone(call, api));
  if (!zone) {
    MUSTER_ASSIGN(const auto all, api.Nodes("-"));
    return FindAnywhere(api, all, name, "TPU");
  }
  auto node = api.Node(zone->value, name);
  if (!node && node.error().cause() == Cause::kTpuNotFound) {
    return WithOtherZones(std::move(node).error(), api.Nodes("-"), name);
  }
  return node;
}

Status TpuList(const TpuCall& call) {
  MUSTER_ASSIGN(auto api, OpenApi(call));
  MUSTER_ASSIGN(const auto zone, ZoneOfList(call, api));
  MUSTER_ASSIGN(const auto nodes, api.Nodes(zone.value));
  PrintListing(call, api, zone, nodes,
               {"TPUs",
                "tpus",
                "muster.tpu.list/1",
                {"NAME", "ZONE", "TYPE", "STATE", "HEALTH", "HOSTS", "VERSION",
                 "SCHEDULING"}});
  return Ok();
}

Status TpuTypes(const TpuCall& call) {
  MUSTER_ASSIGN(auto api, OpenApi(call));
  MUSTER_ASSIGN(const auto zone, ZoneOfList(call, api));
  MUSTER_ASSIGN(const auto types, api.Types(zone.value));
  PrintListing(call, api, zone, types,
               {"accelerator types",
                "types",
                "muster.tpu.types/1",
                {"TYPE", "ZONE", "TOPOLOGY"}});
  return Ok();
}

Status TpuVersions(const TpuCall& call) {
  MUSTER_ASSIGN(auto api, OpenApi(call));
  MUSTER_ASSIGN(const auto zone, ZoneOfList(call, api));
  MUSTER_ASSIGN(const auto versions, api.Versions(zone.value));
  PrintListing(call, api, zone, versions,
               {"runtime versions",
                "versions",
                "muster.tpu.versions/1",
                {"VERSION", "ZONE"}});
  return Ok();
}

Status TpuQueuedList(const TpuCall& call) {
  MUSTER_ASSIGN(auto api, OpenApi(call));
  MUSTER_ASSIGN(const auto zone, ZoneOfList(call, api));
  MUSTER_ASSIGN(const auto queued, api.QueuedResources(zone.value));
  PrintListing(call, api, zone, queued,
               {"queued resources",
                "queued",
                "muster.tpu.queued.list/1",
                {"NAME", "ZONE", "TYPE", "STATE", "NODES", "SCHEDULING"}});
  return Ok();
}

Status TpuDescribe(const TpuCall& call) {
  MUSTER_ASSIGN(auto api, OpenApi(call));
  MUSTER_ASSIGN(const auto node, FindNode(call, api));
  if (call.json()) {
    PrintDocument({{"schema", "muster.tpu/1"}, {"tpu", ToJson(node)}});
    return Ok();
  }
  Rows rows{{"name", OrDash(node.name)},
            {"zone", OrDash(node.zone)},
            {"project", OfProject(api).substr(8)},
            {"type", OrDash(node.accelerator_type) + " (" +
                         OrDash(node.topology) + ")"},
            {"version", OrDash(node.runtime_version)},
            {"state", OrDash(node.state)},
            {"health", OrDash(node.health) +
                           (node.health_description.empty()
                                ? ""
                                : ": " + Printable(node.health_description))},
            {"scheduling", node.scheduling},
            {"created", OrDash(node.created)},
            {"network", OrDash(node.network)}};
  if (!node.queued_resource.empty()) {
    rows.push_back({"queued as", OrDash(node.queued_resource)});
  }
  for (std::size_t i = 0; i < node.endpoints.size(); ++i) {
    rows.push_back(
        {"worker " + std::to_string(i),
         Printable(node.endpoints[i]) +
             (i < node.external_addresses.size() &&
                      !node.external_addresses[i].empty()
                  ? ", outside " + Printable(node.external_addresses[i])
                  : "")});
  }
  for (const cloud::TpuSymptom& one : node.symptoms) {
    rows.push_back({"symptom", OrDash(one.type) + " at " + ToText(one.at)});
  }
  if (const std::string meaning = Meaning(node); !meaning.empty()) {
    rows.push_back({"means", meaning});
  }
  PrintResult(TableText(rows));
  return Ok();
}

Status TpuQueuedDescribe(const TpuCall& call) {
  MUSTER_ASSIGN(auto api, OpenApi(call));
  MUSTER_ASSIGN(const auto queued, FindQueued(call, api));
  if (call.json()) {
    PrintDocument(
        {{"schema", "muster.tpu.queued/1"}, {"queued", ToJson(queued)}});
    return Ok();
  }
  Rows rows{{"name", OrDash(queued.name)},
            {"zone", OrDash(queued.zone)},
            {"project", OfProject(api).substr(8)},
            {"type", OrDash(queued.accelerator_type)},
            {"version", OrDash(queued.runtime_version)},
            {"state", OrDash(queued.state)},
            {"nodes", OrDash(Join(queued.nodes, ", "))},
            {"scheduling", queued.scheduling},
            {"created", OrDash(queued.created)}};
  if (!queued.reason.empty()) {
    rows.push_back({"because", Printable(queued.reason)});
  }
  if (const std::string meaning = Meaning(queued); !meaning.empty()) {
    rows.push_back({"means", meaning});
  }
  PrintResult(TableText(rows));
  return Ok();
}

}  // namespace muster::cli
