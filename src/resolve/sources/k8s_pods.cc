// SPDX-License-Identifier: Apache-2.0
// Pods by label selector as a map of tasks, named on the command line. Sorted
// by name, so that every host gets the same order.
#include <algorithm>

#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "resolve/formats/endpoint.h"
#include "resolve/platform/kubernetes.h"
#include "resolve/source.h"

namespace muster::resolve::k8s_pods {
namespace {

Match Speak(const Request& request, const sys::Host&) {
  return request.selectors.empty() ? Silent("--pods is not given") : Speaks();
}

struct Pod {
  std::string name, phase, address;
};

Result<std::vector<Pod>> Select(const Kubernetes& cluster,
                                const std::string& selector) {
  MUSTER_ASSIGN(const auto list,
                cluster.Get(cluster.Core() + "pods?labelSelector=" +
                                sys::PercentEncode(selector),
                            "the pods with " + Printable(selector), "pods"));
  std::vector<Pod> pods;
  const Json& items = list ? At(*list, {"items"}) : Json();
  if (items.is_array()) {
    for (const Json& item : items) {
      const Json& status = At(item, {"status"});
      pods.push_back({.name = TextOf(At(item, {"metadata"}), "name"),
                      .phase = TextOf(status, "phase"),
                      .address = TextOf(status, "podIP")});
    }
  }
  std::sort(pods.begin(), pods.end(),
            [](const Pod& a, const Pod& b) { return a.name < b.name; });
  return pods;
}

Result<std::vector<std::string>> Addresses(
    const Kubernetes& cluster, const std::vector<std::string>& selectors,
    int port) {
  std::vector<std::string> addresses;
  for (const std::string& selector : selectors) {
    MUSTER_ASSIGN(const auto pods, Select(cluster, selector));
    for (const Pod& pod : pods) {
      if (pod.phase != "Running") {
        return Error(Cause::kPodNotStarted, "the pod `" + Printable(pod.name) +
                                                "` is not Running but " +
                                                Printable(pod.phase));
      }
      if (pod.address.empty()) {
        return Error(Cause::kPodNotStarted,
                     "the pod `" + Printable(pod.name) + "` has no address");
      }
      addresses.push_back(JoinHostPort(pod.address, port));
    }
  }
  return addresses;
}

Result<Claim> Read(const Request& request, const sys::Host& host) {
  MUSTER_ASSIGN(const Kubernetes cluster, Kubernetes::Open(host));
  auto selectors = request.selectors;
  if (selectors.empty()) {
    selectors = {{"worker", {"job-name=tensorflow"}}};
  }
  Claim claim{.source = "k8s-pods"};
  claim.tasks.emplace();
  for (const auto& [job, labels] : selectors) {
    MUSTER_ASSIGN(const auto addresses, Addresses(cluster, labels, 8470));
    claim.tasks->jobs[job] = ToTasks(addresses);
  }
  claim.rpc_layer = Sourced<std::string>{"grpc", "default of tf"};
  claim.master = Sourced<std::string>{"", "no task is named"};
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "k8s-pods",
    .precedence = 130,
    .scope = Scope::kProcess,
    .starts_agents = true,
    .doc = "pods by label selector (--pods JOB:LABEL=VALUE)",
    .reads =
        "KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT, the service account "
        "files, pods in the pod's namespace",
    .ports = "8470",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::k8s_pods
