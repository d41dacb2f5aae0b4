// SPDX-License-Identifier: Apache-2.0
#include "tpu_nodes.h"

#include <algorithm>

#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "cloud/api/get_json.h"
#include "resolve/formats/endpoint.h"

namespace muster::conformance {
namespace {

using namespace resolve;  // NOLINT(google-build-using-namespace): its tests

// The version that a TPU worker of the older kind tells on port 8475; nullopt
// when it tells none.
std::optional<std::string> AskWorkerVersion(const std::string& endpoint,
                                            const sys::Host& host) {
  const auto split = SplitHostPort(endpoint);
  if (!split) {
    return std::nullopt;
  }
  sys::HttpRequest get{.url = "http://" + JoinHostPort(split->host, 8475) +
                              "/requestversion"};
  const auto answer = cloud::Ask(
      {.request = get, .what = "the version of the TPU worker"}, host);
  const std::string version =
      answer && *answer ? TextOf(**answer, "currentVersion") : "";
  return version.empty() ? std::nullopt : std::optional(version);
}

}  // namespace

Result<TpuDescription> DescribeTpu(const Request& request,
                                   const sys::Host& host) {
  MUSTER_ASSIGN(const auto target, FindTpuTarget(request, host));
  TpuDescription found{.use_api = target.kind == TpuTarget::Kind::kName};
  if (target.kind == TpuTarget::Kind::kAddresses) {
    MUSTER_ASSIGN(found.node.endpoints, ParseTpuEndpoints(target.text));
    found.node.runtime_version =
        AskWorkerVersion(found.node.endpoints.front(), host).value_or("");
  }
  if (!found.use_api) {
    return found;
  }
  MUSTER_ASSIGN(found.node.place, PlaceTpu(target, request, host));
  auto node = GetTpuNode(found.node.place, host);
  if (node) {
    found.node = *std::move(node);
    return found;
  }
  const Cause cause = node.error().cause();
  const bool out_of_reach = cause == Cause::kNetNameResolution ||
                            cause == Cause::kNetTimeoutFiltered ||
                            cause == Cause::kNetWrongEndpoint;
  return out_of_reach ? Result<TpuDescription>(found)
                      : Result<TpuDescription>(std::move(node).error());
}

bool IsRecoverable(const resolve::TpuNode& node, WallTime now) {
  if (node.state == "TERMINATED" || node.state == "PREEMPTED") {
    return false;
  }
  return std::none_of(node.symptoms.begin(), node.symptoms.end(),
                      [&](const auto& symptom) {
                        return (symptom.type == "OUT_OF_MEMORY" ||
                                symptom.type == "HBM_OUT_OF_MEMORY") &&
                               now - symptom.at < std::chrono::seconds(90);
                      });
}

Result<Waited> WaitUntilHealthy(
    const std::string& name, const HealthWait& wait,
    const std::function<std::string(int at_s)>& health) {
  Waited waited;
  std::string last = health(0);
  while (last != "HEALTHY") {
    if (waited.seconds + wait.interval_s > wait.timeout_s ||
        wait.interval_s < 1) {
      return Error(Cause::kTpuUnhealthy,
                   "the TPU `" + Printable(name) +
                       "` did not become HEALTHY "
                       "within " +
                       std::to_string(wait.timeout_s) + " s: its health is " +
                       (last.empty() ? "not known" : Printable(last)));
    }
    waited.seconds += wait.interval_s;
    ++waited.sleeps;
    last = health(waited.seconds);
  }
  return waited;
}

}  // namespace muster::conformance
