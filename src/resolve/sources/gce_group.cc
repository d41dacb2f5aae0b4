// SPDX-License-Identifier: Apache-2.0
// The machines of an instance group of Compute Engine, named on the command
// line.
#include <algorithm>

#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "cloud/api/get_json.h"
#include "cloud/auth/credentials.h"
#include "resolve/formats/endpoint.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::gce_group {
namespace {

Match Speak(const Request& request, const sys::Host&) {
  return request.cloud.instance_group ? Speaks()
                                      : Silent("--instance-group is not given");
}

struct Place {
  std::string base;   // …/projects/P/zones/Z
  std::string group;  // name
  cloud::Bearer bearer;
};

Result<Place> Where(const Request& request, const sys::Host& host) {
  const CloudRequest& cloud = request.cloud;
  if (!cloud.instance_group || !cloud.project || !cloud.zone) {
    return Error(
        Cause::kUsageInvalid,
        "an instance group requires --project, --zone and --instance-group");
  }
  std::string server =
      host.env.Get("CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE").value_or("");
  if (server.empty()) {
    server = "https://compute.googleapis.com/compute/v1/";
  }
  MUSTER_ASSIGN(auto bearer, cloud::BearerOf(host));
  return Place{.base = server + "projects/" +
                       sys::PercentEncode(*cloud.project) + "/zones/" +
                       sys::PercentEncode(*cloud.zone),
               .group = *cloud.instance_group,
               .bearer = std::move(bearer)};
}

// One page, whose names are added; gives the token of the next, or "".
Result<std::string> AddPage(const Place& place, const std::string& token,
                            const sys::Host& host,
                            std::vector<std::string>& names) {
  const std::string what =
      "the instance group `" + Printable(place.group) + "`";
  sys::HttpRequest post{
      .url = place.base + "/instanceGroups/" + sys::PercentEncode(place.group) +
             "/listInstances" +
             (token.empty() ? "" : "?pageToken=" + sys::PercentEncode(token)),
      .method = "POST"};
  post.headers["Content-Type"] = "application/json";
  post.body = "{}";
  MUSTER_ASSIGN(
      const auto answer,
      cloud::Ask({.request = cloud::WithBearer(post, place.bearer),
                  .what = what,
                  .needs = "the account needs compute.instanceGroups.list "
                           "(roles/compute.viewer)",
                  .identity = place.bearer.who,
                  .is_public = true},
                 host));
  if (!answer) {
    return Error(Cause::kClusterSpecInvalid,
                 what + " does not exist at " + place.base);
  }
  const Json& items = At(*answer, {"items"});
  if (items.is_array()) {
    for (const Json& item : items) {
      const std::string url = TextOf(item, "instance");
      names.push_back(url.substr(url.rfind('/') + 1));
      const std::string status = TextOf(item, "status");
      if (!status.empty() && status != "RUNNING") {
        return Error(Cause::kPodNotStarted,
                     "the instance `" + Printable(names.back()) + "` of " +
                         what + " is not RUNNING but " + Printable(status));
      }
    }
  }
  return TextOf(*answer, "nextPageToken");
}

Result<std::vector<std::string>> Instances(const Place& place,
                                           const sys::Host& host) {
  constexpr int kMaxPages = 100;
  std::vector<std::string> names;
  std::string token;
  for (int page = 0; page == 0 || !token.empty(); ++page) {
    if (page == kMaxPages) {
      return Error(Cause::kClusterSpecInvalid,
                   "the instance group `" + Printable(place.group) +
                       "` has more than " + Count(kMaxPages, "page") +
                       " of instances");
    }
    MUSTER_ASSIGN(token, AddPage(place, token, host, names));
  }
  if (names.empty()) {
    return Error(
        Cause::kClusterSpecInvalid,
        "the instance group `" + Printable(place.group) + "` has no instances");
  }
  return names;
}

Result<std::string> AddressOf(const Place& place, const std::string& name,
                              const sys::Host& host) {
  sys::HttpRequest get{.url = place.base + "/instances/" +
                              sys::PercentEncode(name)};
  const std::string what = "the instance `" + Printable(name) + "`";
  MUSTER_ASSIGN(const auto answer,
                cloud::Ask({.request = cloud::WithBearer(get, place.bearer),
                            .what = what,
                            .needs = "the account needs compute.instances.get "
                                     "(roles/compute.viewer)",
                            .identity = place.bearer.who,
                            .is_public = true},
                           host));
  if (!answer) {
    return Error(Cause::kClusterSpecInvalid, what + " does not exist");
  }
  const std::string status = TextOf(*answer, "status");
  if (!status.empty() && status != "RUNNING") {
    return Error(Cause::kPodNotStarted,
                 what + " is not RUNNING but " + Printable(status));
  }
  const Json& interfaces = At(*answer, {"networkInterfaces"});
  const std::string ip = interfaces.is_array() && !interfaces.empty()
                             ? TextOf(interfaces[0], "networkIP")
                             : "";
  if (ip.empty()) {
    return Error(Cause::kClusterSpecInvalid, what + " has no address");
  }
  return ip;
}

Result<Claim> Read(const Request& request, const sys::Host& host) {
  MUSTER_ASSIGN(const Place place, Where(request, host));
  MUSTER_ASSIGN(const auto names, Instances(place, host));
  Claim claim{.source = "gce-group"};
  std::vector<std::string> addresses;
  for (const std::string& name : names) {
    MUSTER_ASSIGN(const auto ip, AddressOf(place, name, host));
    claim.hosts.push_back(ip);
    addresses.push_back(JoinHostPort(ip, 8470));
  }
  std::sort(claim.hosts.begin(), claim.hosts.end());
  std::sort(addresses.begin(), addresses.end());
  claim.tasks.emplace().jobs["worker"] = ToTasks(addresses);
  claim.task_type = Sourced<std::string>{"worker", "default of tf"};
  claim.rpc_layer = Sourced<std::string>{"grpc", "default of tf"};
  claim.master = Sourced<std::string>{"", "no task is named"};
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "gce-group",
    .precedence = 120,
    .scope = Scope::kProcess,
    .starts_agents = true,
    .doc = "a Compute Engine instance group (--instance-group)",
    .reads = "--project, --zone, --instance-group, compute.googleapis.com",
    .ports = "8470",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::gce_group
