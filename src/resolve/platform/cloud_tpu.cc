// SPDX-License-Identifier: Apache-2.0
#include "resolve/platform/cloud_tpu.h"

#include "accelerator/local_devices.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "cloud/api/get_json.h"
#include "cloud/api/project_zone.h"
#include "cloud/auth/credentials.h"
#include "cloud/auth/metadata.h"
#include "cloud/tpu/tpu_server.h"
#include "resolve/formats/endpoint.h"
#include "resolve/variables.h"

namespace muster::resolve {
namespace {

std::string LastPart(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// TPU_CONFIG: {"tpu_node_name", "project", "zone"}.
Result<Json> TpuConfig(const sys::Env& env) {
  if (!IsSet(env, "TPU_CONFIG")) {
    return Json::object();
  }
  MUSTER_ASSIGN(Json json, ParseJson(*env.Get("TPU_CONFIG"),
                                     Cause::kClusterSpecInvalid, "TPU_CONFIG"));
  if (!json.is_object()) {
    return Error(
        Cause::kClusterSpecInvalid,
        std::string("TPU_CONFIG is not an object but ") + json.type_name());
  }
  return json;
}

Error NoTarget(const sys::Host& host) {
  const accelerator::LocalTpu tpu = accelerator::FindLocalTpu(host);
  return Error(Cause::kLaunchEnvMissing,
               "no TPU is specified and this host has none: no argument, "
               "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS, TPU_NAME and tpu_node_name in "
               "TPU_CONFIG are not set; " +
                   Join(tpu.probed, ", "));
}

TpuTarget Targeted(const std::string& text, const std::string& source) {
  const auto kind = Trim(text) == "local"  ? TpuTarget::Kind::kLocal
                    : IsTpuEndpoints(text) ? TpuTarget::Kind::kAddresses
                                           : TpuTarget::Kind::kName;
  return {.kind = kind, .text = std::string(Trim(text)), .source = source};
}

// What a name of several parts says itself.
void TakeFullName(TpuPlace& place, const std::string& source) {
  const auto parts = Split(place.name, '/');
  if (parts.size() == 6 && parts[0] == "projects" && parts[4] == "nodes") {
    place = {.name = parts[5],
             .project = parts[1],
             .project_source = source,
             .zone = parts[3],
             .zone_source = source};
  }
}

// What neither flags nor variables tell of the place of `tpu`.
struct Wanted {
  const char* path;
  const char* what;
  const char* flag;
};
Status TakeFromMetadata(const sys::Host& host, const TpuTarget& tpu,
                        const Wanted& wanted, std::string& value,
                        std::string& source) {
  if (!value.empty()) {
    return Ok();
  }
  const cloud::Metadata metadata(host);
  const std::string off = metadata.SwitchedOff();
  auto told = off.empty() ? metadata.Get(wanted.path)
                          : Result<std::optional<std::string>>(
                                Error(Cause::kLaunchEnvMissing, off));
  if (!told || !*told || (*told)->empty()) {
    return Error(
        Cause::kLaunchEnvMissing,
        std::string("the ") + wanted.what + " of the TPU `" +
            Printable(tpu.text) + "` (" + tpu.source + ") is unknown: set " +
            wanted.flag + " (" +
            (told ? "the metadata server has no " + std::string(wanted.path)
                  : told.error().message()) +
            ")");
  }
  value = LastPart(**told);
  source = std::string("metadata ") + wanted.path;
  return Ok();
}

// Names of the nodes of a zone (`-`: of all), with their zone.
std::vector<std::pair<std::string, std::string>> ListNodes(
    const TpuPlace& place, const std::string& zone, const cloud::Bearer& bearer,
    const sys::Host& host) {
  std::vector<std::pair<std::string, std::string>> names;
  sys::HttpRequest list{.url = cloud::TpuUrl(host.env, place.project, zone) +
                               "/nodes"};
  const auto answer = cloud::Ask({.request = cloud::WithBearer(list, bearer),
                                  .what = "the TPUs of " + zone,
                                  .is_public = true},
                                 host);
  if (!answer || !*answer) {
    return names;
  }
  for (const Json& node : ListOf(**answer, "nodes")) {
    const auto name = cloud::SplitResourceName(TextOf(node, "name"));
    if (!name.id.empty()) {
      names.emplace_back(name.id, name.zone);
    }
  }
  return names;
}

Error NotFound(const TpuPlace& place, const cloud::Bearer& bearer,
               const sys::Host& host) {
  std::vector<std::string> here;
  for (const auto& [name, zone] : ListNodes(place, place.zone, bearer, host)) {
    here.push_back(Printable(name));
  }
  std::vector<std::string> zones;
  for (const auto& [name, zone] : ListNodes(place, "-", bearer, host)) {
    if (name == place.name) {
      zones.push_back(Printable(zone));
    }
  }
  std::string text = "no TPU `" + Printable(place.name) + "` in zone " +
                     Printable(place.zone) + " (" + place.zone_source +
                     ") of project " + Printable(place.project) + " (" +
                     place.project_source + ")";
  text += here.empty() ? "" : "; existing: " + Join(here, ", ");
  text += zones.empty() ? "" : "; it is in: " + Join(zones, ", ");
  return Error(Cause::kTpuNotFound, text);
}

}  // namespace

Result<TpuTarget> FindTpuTarget(const Request& request, const sys::Host& host) {
  if (request.cloud.tpu && !Trim(*request.cloud.tpu).empty()) {
    return Targeted(*request.cloud.tpu, "argument tpu");
  }
  for (const char* name : {"KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "TPU_NAME"}) {
    if (const Text text = TextVariable(host.env, name)) {
      return Targeted(text->value, text->source);
    }
  }
  MUSTER_ASSIGN(const Json config, TpuConfig(host.env));
  if (const auto name = TextOf(config, "tpu_node_name"); !name.empty()) {
    return Targeted(name, "env TPU_CONFIG");
  }
  if (accelerator::FindLocalTpu(host).chips > 0) {
    return TpuTarget{.kind = TpuTarget::Kind::kLocal,
                     .text = "local",
                     .source = accelerator::FindLocalTpu(host).source};
  }
  return NoTarget(host);
}

Result<TpuPlace> PlaceTpu(const TpuTarget& target, const Request& request,
                          const sys::Host& host) {
  TpuPlace place{.name = target.text};
  TakeFullName(place, target.source);
  MUSTER_ASSIGN(const Json config, TpuConfig(host.env));
  const auto take = [&](const std::optional<std::string>& told, const char* key,
                        const std::vector<std::string>& names,
                        std::string& value, std::string& source) {
    if (!value.empty()) {
      return;
    }
    const Text variable = FirstText(host.env, names);
    if (told && !told->empty()) {
      value = *told;
      source = "argument " + std::string(key);
    } else if (!TextOf(config, key).empty()) {
      value = TextOf(config, key);
      source = "env TPU_CONFIG";
    } else if (variable) {
      value = variable->value;
      source = variable->source;
    }
  };
  take(request.cloud.project, "project",
       {"GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT"},
       place.project, place.project_source);
  take(request.cloud.zone, "zone", {"CLOUDSDK_COMPUTE_ZONE"}, place.zone,
       place.zone_source);
  MUSTER_TRY(TakeFromMetadata(host, target,
                              {"project/project-id", "project", "--project"},
                              place.project, place.project_source));
  MUSTER_TRY(TakeFromMetadata(host, target, {"instance/zone", "zone", "--zone"},
                              place.zone, place.zone_source));
  return place;
}

Result<TpuNode> GetTpuNode(const TpuPlace& place, const sys::Host& host) {
  sys::HttpRequest get{.url =
                           cloud::TpuUrl(host.env, place.project, place.zone) +
                           "/nodes/" + sys::PercentEncode(place.name)};
  MUSTER_ASSIGN(const cloud::Bearer bearer, cloud::BearerOf(host));
  MUSTER_ASSIGN(
      const auto answer,
      cloud::Ask({.request = cloud::WithBearer(get, bearer),
                  .what = "the TPU `" + Printable(place.name) + "` in zone " +
                          Printable(place.zone) + " of project " +
                          Printable(place.project),
                  .needs = "the account needs tpu.nodes.get (roles/tpu.viewer)",
                  .identity = bearer.who.empty() ? "no account (no credentials)"
                                                 : bearer.who,
                  .is_public = true},
                 host));
  if (!answer) {
    return NotFound(place, bearer, host);
  }
  return TpuNode{cloud::ToTpuNode(*answer), place};
}

Status CheckReady(const TpuNode& node) {
  const std::string name = "the TPU `" + Printable(node.place.name) + "`";
  if (node.state != "READY") {
    const bool gone = node.state == "PREEMPTED" || node.state == "TERMINATED";
    return Error(gone ? Cause::kPreempted : Cause::kTpuUnhealthy,
                 name + (node.state.empty()
                             ? " has no state, so it is not READY"
                             : " is not READY but " + Printable(node.state)));
  }
  if (node.endpoints.empty()) {
    return Error(Cause::kTpuUnhealthy, name + " is READY but has no address");
  }
  return Ok();
}

}  // namespace muster::resolve
