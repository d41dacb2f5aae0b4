// SPDX-License-Identifier: Apache-2.0
#include "resolve/environment/proxies.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/text.h"
#include "resolve/variables.h"
#include "sys/net/proxy.h"

namespace muster::resolve {
namespace {

constexpr std::size_t kMaxNamed = 3;

// Whom this process talks to, each once.
std::vector<std::string> HostsOf(const Resolved& resolved) {
  std::set<std::string> hosts;
  for (const Member& member : resolved.cluster.members) {
    if (member.address) {
      hosts.insert(member.address->value.host);
    }
  }
  for (const std::string& host : resolved.claims.front().rank_hosts) {
    hosts.insert(host);
  }
  if (resolved.cluster.coordinator) {
    hosts.insert(resolved.cluster.coordinator->value.host);
  }
  return {hosts.begin(), hosts.end()};
}

bool TalksToNobody(const Resolved& resolved) {
  const Cluster& cluster = resolved.cluster;
  return cluster.one_host ||
         (cluster.size.value == 1 && resolved.claims.front().source != "tpu");
}

// Those that are diverted in one way.
std::vector<std::string> Diverted(const std::vector<std::string>& hosts,
                                  sys::Diversion how, const sys::Env& env) {
  std::vector<std::string> diverted;
  std::copy_if(hosts.begin(), hosts.end(), std::back_inserter(diverted),
               [&](const std::string& host) {
                 return sys::DiversionOf(host, env) == how;
               });
  return diverted;
}

std::string NotCovered(std::vector<std::string> diverted, std::size_t all) {
  const auto count = diverted.size();
  diverted.resize(std::min(count, kMaxNamed));
  return std::to_string(count) + " of " +
         Count(static_cast<std::int64_t>(all), "host") + " (" +
         Printable(Join(diverted, ", ")) + (count > kMaxNamed ? ", …" : "") +
         ")";
}

}  // namespace

std::optional<Finding> CheckProxies(const Resolved& resolved,
                                    const sys::Env& env) {
  const auto proxy = sys::GrpcProxy(env);
  if (!proxy || TalksToNobody(resolved)) {
    return std::nullopt;
  }
  const auto hosts = HostsOf(resolved);
  const std::string set = proxy->variable + " is `" +
                          Printable(sys::WithoutUser(proxy->address)) + "`, ";
  if (auto all = Diverted(hosts, sys::Diversion::kByAll, env); !all.empty()) {
    return Warning(Cause::kNetProxy,
                   set + "and no_proxy does not cover " +
                       NotCovered(std::move(all), hosts.size()) +
                       ": gRPC, and therefore TensorFlow and JAX, connects to "
                       "them through the proxy");
  }
  auto older = Diverted(hosts, sys::Diversion::kByOlderVersions, env);
  if (older.empty()) {
    return std::nullopt;
  }
  Finding note =
      Warning(Cause::kNetProxy,
              set + "and no_proxy covers " +
                  NotCovered(std::move(older), hosts.size()) +
                  " only by an address range or an entry after a space, which "
                  "gRPC supports since 1.55: older versions, which some "
                  "frameworks bundle, connect to them through the proxy");
  note.severity = Severity::kNote;
  note.confidence = Confidence::kPossible;
  return note;
}

}  // namespace muster::resolve
