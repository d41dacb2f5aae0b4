// SPDX-License-Identifier: Apache-2.0
// `muster tpu create`.
#include <algorithm>

#include "accelerator/version_compat.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/tpu/change.h"
#include "cloud/api/project_zone.h"
#include "cloud/tpu/provisioner.h"
#include "resolve/environment/versions.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

// The ways that the flags allow.
std::vector<std::string> Ways(const TpuFlags& flags) {
  std::vector<std::string> ways;
  if (flags.on_demand || (!flags.spot && !flags.reserved)) {
    ways.emplace_back("on-demand");
  }
  if (flags.spot) {
    ways.emplace_back("spot");
  }
  if (flags.reserved) {
    ways.emplace_back("reserved");
  }
  return ways;
}

// The zones of the API that offer the type.
std::vector<std::string> ZonesWith(const std::string& type,
                                   cloud::TpuApi& api) {
  std::vector<std::string> zones;
  if (const auto types = api.Types("-")) {
    for (const cloud::AcceleratorType& one : types->items) {
      if (one.name == type) {
        zones.push_back(Printable(one.zone));
      }
    }
  }
  return zones;
}

std::string OfferedIn(const std::string& type, cloud::TpuApi& api) {
  const auto zones = ZonesWith(type, api);
  return zones.empty()
             ? "no zone of this project offers " + Printable(type)
             : Printable(type) + " is offered in " + Join(zones, ", ");
}

Result<std::vector<std::string>> ZonesAsked(const TpuCall& call,
                                            cloud::TpuApi& api) {
  std::vector<std::string> zones;
  for (const std::string& zone : call.flags().any_zone) {
    if (cloud::IsRegion(zone)) {
      return Error(
          Cause::kUsageInvalid,
          "`" + Printable(zone) +
              "` (flag --any-zone) is a region, but a TPU needs a zone: " +
              OfferedIn(call.flags().type, api));
    }
    zones.push_back(zone);
  }
  if (!zones.empty()) {
    return zones;
  }
  MUSTER_ASSIGN(const auto zone, GivenZone(call, api));
  if (!zone) {
    return Error(Cause::kUsageInvalid,
                 "no zone is set: use --zone Z, or --any-zone Z1,Z2 for the "
                 "first zone with capacity; " +
                     OfferedIn(call.flags().type, api));
  }
  return std::vector<std::string>{zone->value};
}

// What can be known before anything is asked. Fills the version.
Status CheckBefore(const TpuCall& call, accelerator::TpuNodeSpec& wanted) {
  MUSTER_TRY(accelerator::CheckTpuName(call.flags().name));
  if (wanted.type.empty()) {
    return Error(Cause::kUsageInvalid,
                 "no type is set: use, for example, `muster tpu create " +
                     Printable(call.flags().name) +
                     " --type v5litepod-8 --zone us-west4-a`; `muster tpu "
                     "types` lists them");
  }
  if (call.flags().version.empty()) {
    MUSTER_TRY(accelerator::CheckRuntimeVersion(wanted));
    const auto usual = accelerator::DefaultRuntimeVersion(wanted.type);
    if (!usual) {
      return Error(
          Cause::kUsageInvalid,
          "the generation of `" + Printable(wanted.type) +
              "` is unknown: set --version; `muster tpu versions` lists them");
    }
    wanted.version = *usual;
  }
  const auto hosts = accelerator::HostCounts(wanted.type);
  wanted.hosts = hosts.empty() ? 0 : hosts.front();
  return accelerator::CheckRuntimeVersion(wanted);
}

// A TensorFlow that is installed here talks to one of the same version only.
Status CheckFramework(const TpuCall& call,
                      const accelerator::TpuNodeSpec& wanted) {
  constexpr std::string_view kTensorFlow = "tpu-vm-tf-";
  if (!wanted.version.starts_with(kTensorFlow)) {
    return Ok();
  }
  const auto packages = resolve::FindPythonPackages(call.host);
  if (!packages) {
    return Ok();
  }
  for (const Finding& one :
       resolve::CheckVersions(*packages, {.runtime = wanted.version})) {
    if (one.cause != Cause::kVerClientRuntime) {
      continue;
    }
    const auto found = packages->versions.contains("tensorflow-tpu")
                           ? packages->versions.at("tensorflow-tpu")
                           : packages->versions.at("tensorflow");
    const auto rest = wanted.version.find('-', kTensorFlow.size());
    return Error(
        one.cause,
        one.what + "; use --version " + std::string(kTensorFlow) +
            Printable(found) +
            (rest == std::string::npos ? "" : wanted.version.substr(rest)) +
            ", or change the Python environment that will use the TPU");
  }
  return Ok();
}

// What only the API knows: whether the zone has the type and the version. A
// right to look that is lacking leaves it to the creation.
Status CheckZone(const accelerator::TpuNodeSpec& wanted,
                 const std::string& zone, cloud::TpuApi& api) {
  const auto types = api.Types(zone);
  if (!types && types.error().cause() != Cause::kCloudPermissionDenied) {
    return types.error();
  }
  if (types &&
      std::none_of(types->items.begin(), types->items.end(),
                   [&](const auto& one) { return one.name == wanted.type; })) {
    return Error(Cause::kCloudTypeUnsupported,
                 "zone " + Printable(zone) + " does not offer " +
                     Printable(wanted.type) + ": " +
                     OfferedIn(wanted.type, api));
  }
  const auto versions = api.Versions(zone);
  if (!versions && versions.error().cause() != Cause::kCloudPermissionDenied) {
    return versions.error();
  }
  if (versions && std::none_of(versions->items.begin(), versions->items.end(),
                               [&](const auto& one) {
                                 return one.name == wanted.version;
                               })) {
    std::vector<std::string> names;
    for (const cloud::RuntimeVersion& one : versions->items) {
      const bool fits = static_cast<bool>(accelerator::CheckRuntimeVersion(
          {.type = wanted.type, .version = one.name, .hosts = wanted.hosts}));
      if (fits) {
        names.push_back(Printable(one.name));
      }
    }
    return Error(Cause::kUsageInvalid,
                 "zone " + Printable(zone) + " has no runtime version `" +
                     Printable(wanted.version) + "`; for " +
                     Printable(wanted.type) + " it has " +
                     (names.empty() ? "none" : Join(names, ", ")));
  }
  return Ok();
}

std::vector<cloud::Place> PlacesOf(const TpuFlags& flags,
                                   const std::vector<std::string>& zones) {
  std::vector<cloud::Place> places;
  const auto ways = Ways(flags);
  for (const std::string& zone : zones) {
    for (const std::string& way : ways) {
      // Two of one zone cannot have one name.
      const std::string name =
          way == ways.front() ? flags.name : flags.name + "-" + way;
      places.push_back({.zone = zone,
                        .name = name,
                        .scheduling = way,
                        .queued = flags.queued});
    }
  }
  return places;
}

std::string WillText(const cloud::SearchPlan& plan, const cloud::TpuApi& api) {
  std::vector<std::string> places;
  for (const cloud::Place& one : plan.places) {
    places.push_back("`" + Printable(one.name) + "` in zone " +
                     Printable(one.zone) + " (" + one.scheduling +
                     (one.queued ? ", queued" : "") + ")");
  }
  const auto hosts = accelerator::HostCounts(plan.type);
  return "create TPU " + Join(places, " or ") + ", " + Printable(plan.type) +
         (hosts.empty() ? "" : " of " + Count(hosts.front(), "host")) +
         " with " + Printable(plan.version) + ", in " + remote::OfProject(api) +
         (places.size() > 1
              ? "; the first usable TPU is kept, all others are deleted"
              : "") +
         ". Billed from creation until you delete it: " + remote::kTpuPrices;
}

void PrintWould(const TpuCall& call, const std::string& what) {
  if (call.json()) {
    sys::PrintDocument({{"schema", "muster.tpu.would/1"}, {"would", what}});
    return;
  }
  sys::PrintResult("would " + what + "\n");
}

void PrintBegun(const TpuCall& call, const cloud::Found& found) {
  if (call.json()) {
    sys::PrintDocument({{"schema", "muster.tpu.begun/1"},
                        {"name", found.place.name},
                        {"zone", found.place.zone},
                        {"queued", found.place.queued}});
    return;
  }
  const std::string place =
      Printable(found.place.name) + " --zone " + Printable(found.place.zone);
  if (call.flags().quiet) {
    sys::PrintResult(Printable(found.place.name) + " " +
                     Printable(found.place.zone) + "\n");
    return;
  }
  sys::PrintResult(std::string(found.place.queued ? "queued resource" : "TPU") +
                   " `" + Printable(found.place.name) +
                   (found.place.queued ? "` is queued" : "` is being created") +
                   "\nto wait until it is usable: muster tpu wait " + place +
                   "\nbilled until you delete it: muster tpu " +
                   (found.place.queued ? "queued " : "") + "delete " + place +
                   "\n");
}

Result<cloud::SearchPlan> PlanOf(const TpuCall& call, cloud::TpuApi& api,
                                 const accelerator::TpuNodeSpec& wanted) {
  const TpuFlags& flags = call.flags();
  MUSTER_ASSIGN(const auto zones, ZonesAsked(call, api));
  for (const std::string& zone : zones) {
    MUSTER_TRY(CheckZone(wanted, zone, api));
  }
  cloud::SearchPlan plan{.places = PlacesOf(flags, zones),
                         .type = wanted.type,
                         .version = wanted.version};
  plan.search = !flags.any_zone.empty() || plan.places.size() > 1 ||
                (flags.queued && flags.wait);
  plan.until_usable = flags.wait || plan.search;
  // The cloud gives up by itself where this program is killed.
  plan.valid = plan.search ? call.settings.deadline.value : Duration::zero();
  MUSTER_ASSIGN(plan.reach, ReachAsked(call));
  return plan;
}

}  // namespace

Status TpuCreate(const TpuCall& call) {
  accelerator::TpuNodeSpec wanted{.type = call.flags().type,
                                  .version = call.flags().version};
  MUSTER_TRY(CheckBefore(call, wanted));
  MUSTER_TRY(CheckFramework(call, wanted));
  MUSTER_TRY(ReachAsked(call));
  MUSTER_ASSIGN(auto asking, OpenApi(call));
  MUSTER_ASSIGN(auto plan, PlanOf(call, asking, wanted));
  if (call.flags().dry_run) {
    PrintWould(call, WillText(plan, asking));
    return Ok();
  }
  MUSTER_TRY(Confirm(call, WillText(plan, asking)));
  if (call.flags().yes) {
    sys::PrintAside("muster: will " + WillText(plan, asking) + "\n");
  }
  MUSTER_ASSIGN(const auto stoppable, remote::MakeStoppable(call.settings));
  MUSTER_ASSIGN(auto api, OpenApi(call, stoppable));
  MUSTER_ASSIGN(auto journal, cloud::TpuJournal::Open(call.host));
  const bool until_usable = plan.until_usable;
  cloud::TpuProvisioner search(api, journal, std::move(plan),
                               stoppable.waiting);
  const auto found = search.Run();
  remote::PrintLeft(search.Left());
  MUSTER_TRY(found);
  if (until_usable) {
    PrintUsable(call, api, found->node, "muster.tpu.usable/1");
  } else {
    PrintBegun(call, *found);
  }
  return Ok();
}

}  // namespace muster::cli
