// SPDX-License-Identifier: Apache-2.0
#include "sys/net/proxy.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "base/text.h"
#include "muster/address.h"
#include "sys/net/http.h"

namespace muster::sys {
namespace {

bool SameBits(const Address::Bytes& a, const Address::Bytes& b,
              std::size_t bits) {
  const std::size_t whole = bits / 8;
  if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(whole),
                  b.begin())) {
    return false;
  }
  const auto rest = static_cast<unsigned>(bits % 8);
  const unsigned mask = 0xffU << (8U - rest) & 0xffU;
  return rest == 0 || (a[whole] & mask) == (b[whole] & mask);
}

bool IsV6(std::string_view literal) {
  return literal.find(':') != std::string_view::npos;
}

// "10.0.0.0/8" or "fd00::/8".
bool IsInRange(std::string_view host, std::string_view range) {
  const auto slash = range.find('/');
  if (slash == std::string_view::npos) {
    return false;
  }
  const auto first = range.substr(0, slash);
  const auto address = Address{.host = std::string(host)}.Ip();
  const auto net = Address{.host = std::string(first)}.Ip();
  const auto bits = ParseInt(range.substr(slash + 1));
  // IPv4 is the last 32 of 128 bits.
  const std::size_t before = IsV6(first) ? 0 : 96;
  return address && net && IsV6(host) == IsV6(first) && bits && *bits >= 0 &&
         *bits <= static_cast<std::int64_t>(128 - before) &&
         SameBits(*address, *net, before + static_cast<std::size_t>(*bits));
}

// The first that is set and not empty, as curl reads variables.
std::optional<Proxy> FirstSet(const Env& env,
                              std::initializer_list<std::string> names) {
  for (const std::string& name : names) {
    auto value = env.Get(name);
    if (value && !value->empty()) {
      return Proxy{name, *std::move(value)};
    }
  }
  return std::nullopt;
}

std::string_view WithoutDots(std::string_view name) {
  while (name.ends_with('.')) {
    name.remove_suffix(1);
  }
  return name.substr(std::min(name.find_first_not_of('.'), name.size()));
}

// As curl compares: the name itself, or a name below it.
bool IsNameOrBelow(std::string_view host, std::string_view entry) {
  host = WithoutDots(host);
  entry = WithoutDots(entry);
  return !entry.empty() && host.ends_with(entry) &&
         (host.size() == entry.size() ||
          host[host.size() - entry.size() - 1] == '.');
}

bool IsSparedByCurl(const std::string& host, const std::string& exceptions) {
  if (Trim(exceptions) == "*") {
    return true;
  }
  const bool literal = Address{.host = host}.Ip().has_value();
  std::string list = Lower(exceptions);
  std::replace(list.begin(), list.end(), ' ', ',');
  const auto entries = Split(list, ',');
  return std::any_of(entries.begin(), entries.end(), [&](std::string entry) {
    if (entry.starts_with('[') && entry.ends_with(']')) {
      entry = entry.substr(1, entry.size() - 2);
    }
    return literal ? entry == host || IsInRange(host, entry)
                   : IsNameOrBelow(host, entry);
  });
}

// "[::1]:8080" and "name:80" without port and brackets.
std::string HostOf(const std::string& host_and_port) {
  if (host_and_port.starts_with('[')) {
    return host_and_port.substr(1, host_and_port.find(']') - 1);
  }
  return host_and_port.substr(0, host_and_port.find(':'));
}

}  // namespace

std::string WithoutUser(const std::string& address) {
  const auto at = address.rfind('@');
  if (at == std::string::npos) {
    return address;
  }
  const auto scheme = address.find("://");
  return (scheme == std::string::npos ? "" : address.substr(0, scheme + 3)) +
         address.substr(at + 1);
}

Result<ProxyPlace> PlaceOf(const std::string& address) {
  const std::string shown = WithoutUser(address);
  const auto scheme = shown.find("://");
  const std::string kind =
      scheme == std::string::npos ? "http" : Lower(shown.substr(0, scheme));
  if (kind != "http" && kind != "https") {
    return Error(Cause::kNetProxy, "the proxy `" + Printable(shown) +
                                       "` is not an HTTP proxy: add the host "
                                       "to no_proxy to connect to it directly");
  }
  const std::string place =
      SplitUrl(kind + "://" +
               (scheme == std::string::npos ? shown : shown.substr(scheme + 3)))
          .host;
  ProxyPlace found{.host = HostOf(place), .port = kind == "http" ? 1080 : 443};
  const auto colon = place.find(
      ':', place.find(']') == std::string::npos ? 0 : place.find(']'));
  if (colon != std::string::npos) {
    const auto port = ParseInt(std::string_view(place).substr(colon + 1));
    found.port = port && *port <= 65535 ? static_cast<int>(*port) : 0;
  }
  if (found.port < 1 || found.host.empty()) {
    return Error(Cause::kNetProxy, "the proxy `" + Printable(shown) +
                                       "` is not http://HOST:PORT");
  }
  return found;
}

std::optional<Proxy> GrpcProxy(const Env& env) {
  for (const char* name : {"grpc_proxy", "https_proxy", "http_proxy"}) {
    auto value = env.Get(name);
    if (value) {
      return Lower(*value).starts_with("http://")
                 ? std::optional(Proxy{name, *std::move(value)})
                 : std::nullopt;
    }
  }
  return std::nullopt;
}

Diversion DiversionOf(std::string_view host, const Env& env) {
  if (!GrpcProxy(env)) {
    return Diversion::kNone;
  }
  auto exceptions = env.Get("no_grpc_proxy");
  if (!exceptions) {
    exceptions = env.Get("no_proxy");
  }
  const std::string name = Lower(host);
  auto diversion = Diversion::kByAll;
  for (const std::string& one : Split(Lower(exceptions.value_or("")), ',')) {
    const std::string_view entry = Trim(one);
    if (!one.empty() && name.ends_with(one)) {
      return Diversion::kNone;
    }
    if (!entry.empty() && (name.ends_with(entry) || IsInRange(name, entry))) {
      diversion = Diversion::kByOlderVersions;
    }
  }
  return diversion;
}

std::optional<Proxy> ProxyForUrl(const std::string& url, const Env& env) {
  auto proxy = url.starts_with("https:")
                   ? FirstSet(env, {"https_proxy", "HTTPS_PROXY", "all_proxy",
                                    "ALL_PROXY"})
                   : FirstSet(env, {"http_proxy", "all_proxy", "ALL_PROXY"});
  const auto exceptions = FirstSet(env, {"no_proxy", "NO_PROXY"});
  if (proxy && exceptions &&
      IsSparedByCurl(Lower(HostOf(SplitUrl(url).host)), exceptions->address)) {
    return std::nullopt;
  }
  return proxy;
}

}  // namespace muster::sys
