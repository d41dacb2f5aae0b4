// SPDX-License-Identifier: Apache-2.0
#include "cli/tpu/show.h"

#include "base/json.h"
#include "base/text.h"
#include "cloud/api/remedies.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

// None of the zones that answered has it; the others may.
Error NotSeen(const cloud::TpuApi& api, const std::vector<std::string>& silent,
              const std::string& thing, const std::string& others) {
  Fact fact{.name = cloud::kUnlooked,
            .fields = {{"project", api.project().value},
                       {"zone", silent.front()},
                       {"text", "no response for " + Join(silent, ", ")}},
            .by = "Cloud TPU API",
            .at = api.sender().host().clock.WallNow()};
  return Error(Cause::kTpuNotFound,
               "no " + thing + " in the zones of " + remote::OfProject(api) +
                   " that responded; the response is missing for " +
                   Join(silent, ", ") + others)
      .With(std::move(fact));
}

// The one of that name in all zones, where no zone is told. tpu-not-found
// names those that there are, and the zones that did not answer; usage-invalid
// the zones that have one each.
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
                     "`: " + Join(zones, ", ") + "; select one with --zone");
  }
  const std::string thing = what + " `" + Printable(name) + "`";
  const std::string others =
      names.empty() ? "" : "; existing: " + Join(names, ", ");
  if (!listing.unreachable.empty()) {
    return NotSeen(api, listing.unreachable, thing, others);
  }
  return Error(Cause::kTpuNotFound,
               "no " + thing + " in any zone of " + remote::OfProject(api) +
                   (names.empty() ? ", which has none" : others));
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
  return error.Reworded(error.message() + "; it is in zone " +
                        Join(zones, ", "));
}

// One kind of thing that has a name and a zone.
template <typename T>
struct Kind {
  const char* what;
  Result<T> (cloud::TpuApi::*one)(const std::string&, const std::string&);
  Result<cloud::Listing<T>> (cloud::TpuApi::*all)(const std::string&);
};

template <typename T>
Result<T> Find(const TpuCall& call, cloud::TpuApi& api, const Kind<T>& kind) {
  const std::string& name = call.flags().name;
  MUSTER_ASSIGN(const auto zone, GivenZone(call, api));
  if (!zone) {
    MUSTER_ASSIGN(const auto all, (api.*kind.all)("-"));
    return FindAnywhere(api, all, name, kind.what);
  }
  auto found = (api.*kind.one)(zone->value, name);
  if (!found && found.error().cause() == Cause::kTpuNotFound) {
    return WithOtherZones(std::move(found).error(), (api.*kind.all)("-"), name);
  }
  return found;
}

}  // namespace

Json ToJson(const cloud::TpuNode& node) {
  Json symptoms = Json::array();
  for (const cloud::TpuSymptom& one : node.symptoms) {
    symptoms.push_back({{"type", one.type}, {"at", ToString(one.at)}});
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

std::string OrDash(const std::string& text) {
  return text.empty() ? "-" : Printable(text);
}

void PrintUnreachable(const std::vector<std::string>& zones) {
  if (!zones.empty()) {
    sys::PrintAside(
        "muster: warn these zones did not respond and are not listed: " +
        Join(zones, ", ") + "\n");
  }
}

Result<cloud::TpuNode> FindNode(const TpuCall& call, cloud::TpuApi& api) {
  return Find<cloud::TpuNode>(
      call, api, {"TPU", &cloud::TpuApi::Node, &cloud::TpuApi::Nodes});
}

Result<cloud::QueuedResource> FindQueued(const TpuCall& call,
                                         cloud::TpuApi& api) {
  return Find<cloud::QueuedResource>(
      call, api,
      {"queued resource", &cloud::TpuApi::QueuedResourceOf,
       &cloud::TpuApi::QueuedResources});
}

}  // namespace muster::cli
