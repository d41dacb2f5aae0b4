// SPDX-License-Identifier: Apache-2.0
// What the variables of proxies mean to the clients that obey them, which do
// not agree with each other.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "muster/error.h"
#include "sys/env.h"

namespace muster::sys {

struct Proxy {
  std::string variable;  // "https_proxy"
  std::string address;   // as it is set; may hold a password: never printed
};
// "http://user:password@proxy:3128" without what stands before the `@`.
std::string WithoutUser(const std::string& address);

// Where a proxy listens: "me:secret@proxy:3128", "http://[::1]". net-proxy: it
// speaks something other than HTTP, or its port is none. Errors do not show
// what stands before the `@`.
struct ProxyPlace {
  std::string host;  // IPv6 without brackets
  int port = 0;
};
Result<ProxyPlace> PlaceOf(const std::string& address);

// The proxy of gRPC's C++ library, and so of TensorFlow and JAX: the first that
// is set of grpc_proxy, https_proxy and http_proxy, in lower case alone. One
// that is empty or no http:// address means that there is none.
std::optional<Proxy> GrpcProxy(const Env& env);

// Whether gRPC connects to `host` through that proxy. An entry of
// no_grpc_proxy, else of no_proxy, spares the hosts whose names end with it; a
// `*` spares none. Ranges of addresses and white space around an entry are
// understood since gRPC 1.55.
enum class Diversion { kNone, kByOlderVersions, kByAll };
Diversion DiversionOf(std::string_view host, const Env& env);

// The proxy through which users of curl expect a URL to be asked for: the one
// of its scheme, else all_proxy; no_proxy has names with all below them,
// addresses, ranges, or a `*` alone. nullopt: it is asked for directly.
std::optional<Proxy> ProxyForUrl(const std::string& url, const Env& env);

}  // namespace muster::sys
