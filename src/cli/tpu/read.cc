// SPDX-License-Identifier: Apache-2.0
// The actions of `muster tpu` that only look.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "cli/tpu/show.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

// Beside those of this file.
using muster::cli::ToJson;
using Rows = std::vector<std::vector<std::string>>;

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

template <typename T>
void PrintListing(const TpuCall& call, const cloud::TpuApi& api,
                  const Sourced<std::string>& zone,
                  const cloud::Listing<T>& listing, const Shown& shown) {
  if (call.json()) {
    Json items = Json::array();
    for (const T& one : listing.items) {
      items.push_back(ToJson(one));
    }
    sys::PrintDocument(
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
      sys::PrintResult(Printable(one.name) + "\n");
    }
    return;
  }
  if (listing.items.empty()) {
    sys::PrintResult("no " + std::string(shown.what) + " in " +
                     (zone.value == "-" ? "any zone"
                                        : "zone " + Printable(zone.value) +
                                              " (" + zone.source + ")") +
                     " of " + remote::OfProject(api) + "\n");
    return;
  }
  Rows rows{shown.head};
  for (const T& one : listing.items) {
    rows.push_back(RowOf(one));
  }
  sys::PrintResult(TableText(rows));
}

// Asks for one kind of list and shows it.
template <typename T>
Status ShowAll(
    const TpuCall& call,
    Result<cloud::Listing<T>> (cloud::TpuApi::*ask)(const std::string&),
    const Shown& shown) {
  MUSTER_ASSIGN(auto api, OpenApi(call));
  MUSTER_ASSIGN(const auto zone, ZoneOfList(call, api));
  MUSTER_ASSIGN(const auto listing, (api.*ask)(zone.value));
  PrintListing(call, api, zone, listing, shown);
  return Ok();
}

// What a state means for its user; empty: it speaks for itself.
std::string Meaning(const cloud::TpuNode& node) {
  if (node.state == "PREEMPTED" || node.state == "TERMINATED") {
    return "it was preempted, cannot be restarted and still counts against the "
           "quota: delete it";
  }
  if (node.state == "READY" && !node.health.empty() &&
      node.health != "HEALTHY") {
    return "READY, but not usable while its health is " +
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
           "delete it and create a new one";
  }
  return "";
}

}  // namespace

Status TpuList(const TpuCall& call) {
  return ShowAll(call, &cloud::TpuApi::Nodes,
                 {"TPUs",
                  "tpus",
                  "muster.tpu.list/1",
                  {"NAME", "ZONE", "TYPE", "STATE", "HEALTH", "HOSTS",
                   "VERSION", "SCHEDULING"}});
}

Status TpuTypes(const TpuCall& call) {
  return ShowAll(call, &cloud::TpuApi::Types,
                 {"accelerator types",
                  "types",
                  "muster.tpu.types/1",
                  {"TYPE", "ZONE", "TOPOLOGY"}});
}

Status TpuVersions(const TpuCall& call) {
  return ShowAll(call, &cloud::TpuApi::Versions,
                 {"runtime versions",
                  "versions",
                  "muster.tpu.versions/1",
                  {"VERSION", "ZONE"}});
}

Status TpuQueuedList(const TpuCall& call) {
  return ShowAll(call, &cloud::TpuApi::QueuedResources,
                 {"queued resources",
                  "queued",
                  "muster.tpu.queued.list/1",
                  {"NAME", "ZONE", "TYPE", "STATE", "NODES", "SCHEDULING"}});
}

Status TpuDescribe(const TpuCall& call) {
  MUSTER_ASSIGN(auto api, OpenApi(call));
  MUSTER_ASSIGN(const auto node, FindNode(call, api));
  if (call.json()) {
    sys::PrintDocument({{"schema", "muster.tpu/1"}, {"tpu", ToJson(node)}});
    return Ok();
  }
  Rows rows{{"name", OrDash(node.name)},
            {"zone", OrDash(node.zone)},
            {"project", remote::OfProject(api).substr(8)},
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
    rows.push_back({"symptom", OrDash(one.type) + " at " + ToString(one.at)});
  }
  if (const std::string meaning = Meaning(node); !meaning.empty()) {
    rows.push_back({"means", meaning});
  }
  sys::PrintResult(TableText(rows));
  return Ok();
}

Status TpuQueuedDescribe(const TpuCall& call) {
  MUSTER_ASSIGN(auto api, OpenApi(call));
  MUSTER_ASSIGN(const auto queued, FindQueued(call, api));
  if (call.json()) {
    sys::PrintDocument(
        {{"schema", "muster.tpu.queued/1"}, {"queued", ToJson(queued)}});
    return Ok();
  }
  Rows rows{{"name", OrDash(queued.name)},
            {"zone", OrDash(queued.zone)},
            {"project", remote::OfProject(api).substr(8)},
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
  sys::PrintResult(TableText(rows));
  return Ok();
}

}  // namespace muster::cli
