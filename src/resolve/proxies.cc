// SPDX-License-Identifier: Apache-2.0
#include "resolve/proxies.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/text.h"
#include "resolve/variables.h"

namespace muster::resolve {
namespace {

constexpr std::size_t kMostNamed = 3;

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(
      lower.begin(), lower.end(), lower.begin(),
      [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// In the order in which gRPC asks; the others hold for what is built on
// Python's or Go's clients.
Text ProxyOf(const sys::Env& env) {
  return FirstText(env,
                   {"grpc_proxy", "https_proxy", "http_proxy", "HTTPS_PROXY",
                    "HTTP_PROXY", "all_proxy", "ALL_PROXY"});
}

// "http://user:password@proxy:3128" without what stands before the `@`.
std::string WithoutUser(const std::string& proxy) {
  const auto at = proxy.rfind('@');
  if (at == std::string::npos) {
    return proxy;
  }
  const auto scheme = proxy.find("://");
  const std::string head =
      scheme == std::string::npos ? "" : proxy.substr(0, scheme + 3);
  return head + proxy.substr(at + 1);
}

bool Covers(const std::string& entry, const std::string& host) {
  return entry == "*" || host.ends_with(entry) ||
         (entry.starts_with('.') && host == entry.substr(1));
}

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

}  // namespace

std::vector<std::string> DivertedHosts(const std::vector<std::string>& hosts,
                                       const sys::Env& env) {
  const Text no_proxy =
      FirstText(env, {"no_grpc_proxy", "no_proxy", "NO_PROXY"});
  std::vector<std::string> entries;
  for (const std::string& part : Split(no_proxy ? no_proxy->value : "", ',')) {
    if (!Trim(part).empty()) {
      entries.push_back(Lower(Trim(part)));
    }
  }
  std::vector<std::string> diverted;
  std::copy_if(hosts.begin(), hosts.end(), std::back_inserter(diverted),
               [&](const std::string& host) {
                 return std::none_of(entries.begin(), entries.end(),
                                     [&](const std::string& entry) {
                                       return Covers(entry, Lower(host));
                                     });
               });
  return diverted;
}

std::optional<Finding> CheckProxies(const Resolved& resolved,
                                    const sys::Env& env) {
  const Text proxy = ProxyOf(env);
  if (!proxy || TalksToNobody(resolved)) {
    return std::nullopt;
  }
  const auto hosts = HostsOf(resolved);
  auto diverted = DivertedHosts(hosts, env);
  if (diverted.empty()) {
    return std::nullopt;
  }
  const auto count = std::ssize(diverted);
  const bool more = diverted.size() > kMostNamed;
  diverted.resize(std::min(diverted.size(), kMostNamed));
  return Warning(
      Cause::kNetProxy,
      proxy->source.substr(4) + " is `" + Printable(WithoutUser(proxy->value)) +
          "`, and no_proxy does not cover " + std::to_string(count) + " of " +
          Count(std::ssize(hosts), "host") + " (" +
          Printable(Join(diverted, ", ")) + (more ? ", …" : "") +
          "): gRPC, and with it TensorFlow and JAX, connects to them through "
          "the proxy");
}

}  // namespace muster::resolve
