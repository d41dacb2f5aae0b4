// SPDX-License-Identifier: Apache-2.0
// An Indexed Job or JobSet of Kubernetes, through the API.
#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "resolve/platform/kubernetes.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::k8s_job {
namespace {

constexpr const char* kIndex = "JOB_COMPLETION_INDEX";

Match Speak(const Request&, const sys::Host& host) {
  return IsSet(host.env, "KUBERNETES_SERVICE_HOST")
             ? Speaks()
             : Silent("KUBERNETES_SERVICE_HOST is not set");
}

std::string PodName(const sys::Env& env) {
  const Text name = TextVariable(env, "HOSTNAME");
  return name ? name->value : env.Hostname();
}

// This pod, by its name; by its address where the name is not the pod's (a
// pod on the host's network).
Result<Json> OwnPod(const Kubernetes& cluster, const sys::Host& host) {
  const std::string name = PodName(host.env);
  const std::string what = "the pod `" + Printable(name) + "`";
  MUSTER_ASSIGN(auto pod,
                cluster.Get(cluster.Core() + "pods/" + sys::PercentEncode(name),
                            what, "pods"));
  if (pod) {
    return *std::move(pod);
  }
  std::vector<std::string> ips;
  if (host.names != nullptr) {
    ips = host.names->Lookup(name, Deadline::After(std::chrono::seconds(1)))
              .value_or(ips);
  }
  if (ips.empty()) {
    // Pods that wait for a node have no address either.
    return Error(Cause::kClusterSpecInvalid,
                 what + " is not in namespace " + cluster.space() +
                     ", and the hostname has no address to find the pod by");
  }
  MUSTER_ASSIGN(
      const auto list,
      cluster.Get(cluster.Core() + "pods?fieldSelector=" +
                      sys::PercentEncode("status.podIP=" + ips.front()),
                  what, "pods"));
  const Json& items = list ? At(*list, {"items"}) : Json();
  if (items.is_array() && items.size() == 1) {
    return items[0];
  }
  return Error(Cause::kClusterSpecInvalid,
               what + " is not in namespace " + cluster.space());
}

Result<std::string> JobName(const Json& pod, const std::string& name) {
  const Json& owners = At(pod, {"metadata", "ownerReferences"});
  std::string other;
  if (owners.is_array()) {
    for (const Json& owner : owners) {
      const auto controls = owner.find("controller");
      if (controls == owner.end() || *controls != true) {
        continue;
      }
      if (TextOf(owner, "kind") == "Job") {
        return TextOf(owner, "name");
      }
      other = TextOf(owner, "kind") + " `" + TextOf(owner, "name") + "`";
    }
  }
  return Error(Cause::kClusterSpecInvalid,
               "the pod `" + Printable(name) + "` is not owned by a Job" +
                   (other.empty() ? "" : " but by the " + Printable(other)) +
                   ": start it as an Indexed Job or a JobSet");
}

bool Selects(const Json& service, const Json& pod) {
  const Json& selector = At(service, {"spec", "selector"});
  const Json& labels = At(pod, {"metadata", "labels"});
  if (!selector.is_object() || selector.empty() || !labels.is_object()) {
    return false;
  }
  for (const auto& [key, value] : selector.items()) {
    const auto label = labels.find(key);
    if (label == labels.end() || *label != value) {
      return false;
    }
  }
  return TextOf(At(service, {"spec"}), "clusterIP") == "None";
}

// The name of the headless service that selects this pod; empty: there is none,
// or the services may not be listed.
std::string HeadlessServiceOf(const Kubernetes& cluster, const Json& pod) {
  const auto list =
      cluster.Get(cluster.Core() + "services", "the services", "services");
  if (!list || !*list) {
    return {};
  }
  const Json& items = At(**list, {"items"});
  for (const Json& one : items.is_array() ? items : Json::array()) {
    if (Selects(one, pod)) {
      return TextOf(At(one, {"metadata"}), "name");
    }
  }
  return {};
}

// Pods find each other by NAME.SUBDOMAIN only when the job names a headless
// service as its subdomain.
Error NoSubdomain(const Kubernetes& cluster, const Json& pod,
                  const std::string& job) {
  const std::string service = HeadlessServiceOf(cluster, pod);
  if (!service.empty()) {
    return Error(Cause::kNetNameResolution,
                 "the headless service `" + Printable(service) +
                     "` selects the pods of job `" + Printable(job) +
                     "`, but the job does not name it: set "
                     "spec.template.spec.subdomain to " +
                     Printable(service));
  }
  return Error(
      Cause::kNetNameResolution,
      "the pods of job `" + Printable(job) +
          "` cannot find each other: create a headless service (clusterIP: "
          "None, selector job-name: " +
          Printable(job) +
          ") and set spec.template.spec.subdomain of the job to its name");
}

Status TakeSize(const Kubernetes& cluster, const std::string& name,
                Claim& claim) {
  MUSTER_ASSIGN(const auto job,
                cluster.Get("/apis/batch/v1/namespaces/" + cluster.space() +
                                "/jobs/" + sys::PercentEncode(name),
                            "the job `" + Printable(name) + "`", "jobs"));
  const auto parallelism =
      job ? NumberOf(At(*job, {"spec"}), "parallelism") : std::nullopt;
  if (!job || parallelism.value_or(1) < 1) {
    return Error(Cause::kClusterSpecInvalid,
                 "the job `" + Printable(name) +
                     (job ? "` has no parallelism" : "` does not exist"));
  }
  const std::string mode = TextOf(At(*job, {"spec"}), "completionMode");
  if (!mode.empty() && mode != "Indexed") {
    return Error(Cause::kClusterSpecInvalid,
                 "the job `" + Printable(name) + "` has completionMode " +
                     Printable(mode) + ", but ranks require Indexed");
  }
  claim.num_processes =
      Sourced<int>{parallelism.value_or(1), "spec.parallelism of job " + name};
  return Ok();
}

Status TakeIndex(const Json& pod, const sys::Env& env, Claim& claim) {
  MUSTER_ASSIGN(claim.process_id, NumberVariable(env, kIndex));
  if (!claim.process_id) {
    const auto index = NumberOf(At(pod, {"metadata", "annotations"}),
                                "batch.kubernetes.io/job-completion-index");
    if (index) {
      claim.process_id = Sourced<int>{*index, "annotation of this pod"};
    }
  }
  return claim.process_id
             ? Ok()
             : Status(Error(Cause::kLaunchEnvMissing,
                            std::string(kIndex) +
                                " is not set: Kubernetes sets it for pods of "
                                "an Indexed Job"));
}

Result<Claim> Read(const Request& request, const sys::Host& host) {
  Claim claim{.source = "k8s-job"};
  if (request.source.empty() && !IsSet(host.env, kIndex)) {
    claim.nothing = std::string("this pod is not part of an Indexed Job: ") +
                    kIndex + " is not set";
    return claim;
  }
  MUSTER_ASSIGN(const Kubernetes cluster, Kubernetes::Open(host));
  MUSTER_ASSIGN(const Json pod, OwnPod(cluster, host));
  MUSTER_ASSIGN(const std::string job, JobName(pod, PodName(host.env)));
  MUSTER_TRY(TakeIndex(pod, host.env, claim));
  MUSTER_TRY(TakeSize(cluster, job, claim));
  MUSTER_TRY(CheckNumbers(claim));
  const std::string subdomain = TextOf(At(pod, {"spec"}), "subdomain");
  if (subdomain.empty() && claim.num_processes->value > 1) {
    return NoSubdomain(cluster, pod, job);
  }
  if (!subdomain.empty()) {
    claim.coordinator_host =
        Sourced<std::string>{job + "-0." + subdomain, "pod 0 of job " + job};
    for (int i = 0; i < claim.num_processes->value && i < 65536; ++i) {
      std::string host_name = job + "-";
      host_name += std::to_string(i) + "." + subdomain;
      claim.hosts.push_back(std::move(host_name));
    }
    claim.rank_hosts = claim.hosts;
  }
  MUSTER_ASSIGN(claim.coordinator_port,
                PortVariable(host.env, "JAX_COORDINATOR_PORT"));
  if (!claim.coordinator_port) {
    claim.coordinator_port =
        request.profile == "torch"
            ? Sourced<int>{kTorchPort, "default of torch"}
            : Sourced<int>{55527, "default of jax on Kubernetes"};
  }
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "k8s-job",
    .precedence = 800,
    .network = true,
    .starts_agents = true,
    .doc = "a Kubernetes Indexed Job or JobSet",
    .reads =
        "KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT, HOSTNAME, "
        "JOB_COMPLETION_INDEX, JAX_COORDINATOR_PORT, the service account "
        "files, pods, jobs and services in the pod's namespace",
    .ports = "jax 55527, torch 29500",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::k8s_job
