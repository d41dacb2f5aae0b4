// SPDX-License-Identifier: Apache-2.0
// Proxy variables against the addresses of the cluster: gRPC, and with it
// TensorFlow and JAX, sends its connections through them, even to 127.0.0.1.
#include <algorithm>

#include "base/text.h"
#include "check/check.h"
#include "sys/net/proxy.h"

namespace muster::check::network_proxy {
namespace {

// gRPC is used where TensorFlow, JAX or a TPU is; PyTorch has no use for it.
Severity Weight(const Context& context) {
  const sys::Env& env = context.host.env;
  if (env.Get("TF_CONFIG") || env.Get("JAX_COORDINATOR_ADDRESS") ||
      !TpuDevices(context.host.fs).empty()) {
    return Severity::kError;
  }
  return env.Get("MASTER_ADDR") || context.cluster->one_host
             ? Severity::kNote
             : Severity::kWarning;
}

// A command to paste where the hosts are few, and nothing but names.
Fix Except(const std::vector<std::string>& hosts) {
  constexpr std::size_t kFew = 16;
  constexpr std::string_view kHarmless =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.:-_";
  const bool good =
      hosts.size() <= kFew &&
      std::all_of(hosts.begin(), hosts.end(), [&](const auto& host) {
        return host.find_first_not_of(kHarmless) == std::string::npos;
      });
  return {
      .text = "exclude the members from the proxy",
      .command =
          good ? "export no_proxy=\"$no_proxy," + Join(hosts, ",") + "\"" : "",
      .safety = Safety::kSafe};
}

std::string ExceptionsOf(const sys::Env& env) {
  for (const char* name : {"no_grpc_proxy", "no_proxy"}) {
    if (const auto value = env.Get(name)) {
      return std::string(name) + " is `" + Printable(*value) + "`";
    }
  }
  return "no_proxy is not set";
}

// The value may hold a password, so the variable alone is named.
Finding Diverted(const Context& context, const std::vector<std::string>& hosts,
                 const std::string& proxy, sys::Diversion how) {
  const std::string others =
      hosts.size() > 1
          ? " and " +
                Count(static_cast<std::int64_t>(hosts.size()) - 1, "other host")
          : "";
  const bool by_all = how == sys::Diversion::kByAll;
  Finding finding =
      MakeProblem(context, Cause::kNetProxy,
                  proxy + " redirects connections of " +
                      (by_all ? "gRPC" : "versions of gRPC before 1.55") +
                      " from `" + Printable(hosts.front()) + "`" + others +
                      " of this cluster to a proxy",
                  {{proxy + " is set", "environment"},
                   {ExceptionsOf(context.host.env), "environment"}});
  finding.subjects = hosts;
  finding.fixes.insert(finding.fixes.begin(), Except(hosts));
  finding.severity = by_all ? Weight(context) : Severity::kNote;
  if (finding.severity != Severity::kError) {
    finding.confidence = Confidence::kPossible;
  }
  return finding;
}

Outcome Run(const Context& context) {
  const sys::Env& env = context.host.env;
  const auto proxy = sys::GrpcProxy(env);
  if (!proxy) {
    return Pass("no proxy that gRPC uses is set");
  }
  auto hosts = HostsOf(*context.cluster);
  if (hosts.empty() && context.cluster->one_host) {
    hosts = {"127.0.0.1"};
  }
  if (context.cluster->size.value <= 1) {
    return Pass(proxy->variable + " is set, and this is the only process");
  }
  for (const auto how :
       {sys::Diversion::kByAll, sys::Diversion::kByOlderVersions}) {
    std::vector<std::string> diverted;
    std::copy_if(hosts.begin(), hosts.end(), std::back_inserter(diverted),
                 [&](const std::string& host) {
                   return sys::DiversionOf(host, env) == how;
                 });
    if (!diverted.empty()) {
      return Judge({Diverted(context, diverted, proxy->variable, how)}, "");
    }
  }
  return Pass(proxy->variable + " is set, and no_proxy covers the members");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "network.proxy",
                   .title = "connections between members use no proxy",
                   .needs = "cluster.described",
                   // A run shows what resolve finds of it.
                   .before_run = BeforeRun::kNever,
                   .run = Run};

}  // namespace muster::check::network_proxy
