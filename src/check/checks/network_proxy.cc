// SPDX-License-Identifier: Apache-2.0
// Proxy variables against the addresses of the cluster: gRPC, and with it
// TensorFlow and JAX, sends its connections through them, even to 127.0.0.1.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "check/check.h"

namespace muster::check::network_proxy {
namespace {

// The first of these that is set is gRPC's.
constexpr std::array kProxies{"grpc_proxy", "https_proxy", "http_proxy"};
constexpr std::array kExceptions{"no_grpc_proxy", "no_proxy"};

struct Setting {
  std::string name, value;
};

template <std::size_t N>
Setting FirstOf(const sys::Env& env, const std::array<const char*, N>& names) {
  for (const char* name : names) {
    const auto value = env.Get(name);
    if (value && !value->empty()) {
      return {name, *value};
    }
  }
  return {};
}

// The four numbers of an IPv4 address as one.
std::optional<std::uint32_t> Ipv4(std::string_view text) {
  const auto parts = Split(text, '.');
  if (parts.size() != 4) {
    return std::nullopt;
  }
  std::uint32_t number = 0;
  for (const std::string& part : parts) {
    const auto value = ParseInt(part);
    if (!value || *value < 0 || *value > 255) {
      return std::nullopt;
    }
    number = number << 8U | static_cast<std::uint32_t>(*value);
  }
  return number;
}

// "10.0.0.0/8": newer versions of gRPC understand it.
bool IsInside(const std::string& host, const std::string& entry) {
  const auto slash = entry.find('/');
  if (slash == std::string::npos) {
    return false;
  }
  const auto address = Ipv4(host);
  const auto net = Ipv4(std::string_view(entry).substr(0, slash));
  const auto bits = ParseInt(std::string_view(entry).substr(slash + 1));
  if (!address || !net || !bits || *bits < 0 || *bits > 32) {
    return false;
  }
  const std::uint32_t mask =
      *bits == 0 ? 0 : ~std::uint32_t{0} << static_cast<unsigned>(32 - *bits);
  return (*address & mask) == (*net & mask);
}

// As gRPC compares: the end of the host's name.
bool IsExcepted(const std::string& host, const std::string& exceptions) {
  const auto entries = Split(exceptions, ',');
  return std::any_of(entries.begin(), entries.end(), [&](const auto& one) {
    const std::string entry(Trim(one));
    return !entry.empty() && (host.ends_with(entry) || IsInside(host, entry));
  });
}

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
      .text = "except the members from the proxy",
      .command =
          good ? "export no_proxy=\"$no_proxy," + Join(hosts, ",") + "\"" : "",
      .safety = Safety::kSafe};
}

// The value may hold a password, so the variable alone is named.
Finding Diverted(const Context& context, const std::vector<std::string>& hosts,
                 const Setting& proxy, const Setting& exceptions) {
  std::vector<Seen> seen{{proxy.name + " is set", "environment"}};
  seen.push_back(
      {exceptions.name.empty()
           ? std::string("no_proxy is not set")
           : exceptions.name + " is `" + Printable(exceptions.value) + "`",
       "environment"});
  const std::string others =
      hosts.size() > 1
          ? " and " +
                Count(static_cast<std::int64_t>(hosts.size()) - 1, "other host")
          : "";
  Finding finding = MakeProblem(context, Cause::kNetProxy,
                                proxy.name + " diverts gRPC from `" +
                                    Printable(hosts.front()) + "`" + others +
                                    " of this cluster to a proxy",
                                seen);
  finding.subjects = hosts;
  finding.fixes.insert(finding.fixes.begin(), Except(hosts));
  finding.severity = Weight(context);
  if (finding.severity != Severity::kError) {
    finding.confidence = Confidence::kPossible;
  }
  return finding;
}

Outcome Run(const Context& context) {
  const sys::Env& env = context.host.env;
  const Setting proxy = FirstOf(env, kProxies);
  if (proxy.name.empty()) {
    return Pass("no proxy is set");
  }
  const Setting exceptions = FirstOf(env, kExceptions);
  auto hosts = HostsOf(*context.cluster);
  if (hosts.empty() && context.cluster->one_host) {
    hosts = {"127.0.0.1"};
  }
  std::vector<std::string> diverted;
  for (const std::string& host : hosts) {
    if (!IsExcepted(host, exceptions.value)) {
      diverted.push_back(host);
    }
  }
  if (diverted.empty() || context.cluster->size.value <= 1) {
    return Pass(proxy.name + " is set and spares the members");
  }
  return Judge({Diverted(context, diverted, proxy, exceptions)}, "");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "network.proxy",
                   .title = "no proxy stands between the members",
                   .needs = "cluster.described",
                   .run = Run};

}  // namespace muster::check::network_proxy
