// SPDX-License-Identifier: Apache-2.0
#include "resolve/platform/kubernetes.h"

#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "cloud/api/get_json.h"
#include "cloud/auth/rs256.h"
#include "resolve/formats/endpoint.h"
#include "resolve/variables.h"

namespace muster::resolve {
namespace {

constexpr const char* kAccount =
    "/var/run/secrets/kubernetes.io/serviceaccount";

// Of the token's claims: "system:serviceaccount:NAMESPACE:NAME".
std::string AccountOf(const std::string& token) {
  const auto parts = Split(token, '.');
  const auto claims =
      parts.size() == 3
          ? Json::parse(cloud::FromBase64Url(parts[1]), nullptr, false)
          : Json();
  const std::string subject = claims.is_object() ? TextOf(claims, "sub") : "";
  constexpr std::string_view kKind = "system:serviceaccount:";
  return subject.starts_with(kKind) ? subject.substr(kKind.size())
                                    : "NAMESPACE:ACCOUNT";
}

// The role that lets a service account read what a job is made of.
std::string RoleFor(const std::string& space, const std::string& resource,
                    const std::string& account) {
  return "the service account of this pod needs the verbs get and list on " +
         resource + " in namespace " + space +
         ": kubectl create role muster-reader --verb=get,list "
         "--resource=pods,services,jobs -n " +
         space +
         " && kubectl create rolebinding muster-reader --role=muster-reader "
         "--serviceaccount=" +
         account + " -n " + space;
}

}  // namespace

Result<Kubernetes> Kubernetes::Open(const sys::Host& host) {
  Kubernetes cluster(host);
  const Text server = TextVariable(host.env, "KUBERNETES_SERVICE_HOST");
  if (!server) {
    return Error(Cause::kLaunchEnvMissing,
                 "not in a Kubernetes pod: KUBERNETES_SERVICE_HOST is not set");
  }
  MUSTER_ASSIGN(const auto port,
                PortVariable(host.env, "KUBERNETES_SERVICE_PORT"));
  cluster.server_ =
      "https://" + JoinHostPort(server->value, port ? port->value : 443);
  const std::string folder =
      host.env.Get("MUSTER_SERVICE_ACCOUNT").value_or(kAccount);
  auto token = host.fs.Read(folder + "/token", 1U << 20);
  if (!token) {
    return Error(Cause::kCloudAuthMissing,
                 "this pod has no service account (" + folder +
                     "/token does not exist): set automountServiceAccountToken")
        .While("opening the Kubernetes API");
  }
  cluster.token_ = Trim(*token);
  const auto space = host.fs.Read(folder + "/namespace", 4096);
  cluster.space_ = space ? std::string(Trim(*space)) : "default";
  if (host.fs.Exists(folder + "/ca.crt")) {
    cluster.ca_file_ = folder + "/ca.crt";
  }
  return cluster;
}

std::string Kubernetes::Core() const {
  return "/api/v1/namespaces/" + space_ + "/";
}

Result<std::optional<Json>> Kubernetes::Get(const std::string& path,
                                            const std::string& what,
                                            const std::string& resource) const {
  sys::HttpRequest get{.url = server_ + path, .ca_file = ca_file_};
  get.headers["Authorization"] = "Bearer " + token_;
  return cloud::Ask({.request = get,
                     .what = what,
                     .needs = RoleFor(space_, resource, AccountOf(token_))},
                    host_);
}

}  // namespace muster::resolve
