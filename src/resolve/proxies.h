// SPDX-License-Identifier: Apache-2.0
// Proxy variables that divert what members say to each other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "resolve/resolve.h"

namespace muster::resolve {

// The hosts that no_proxy (for gRPC no_grpc_proxy first) does not cover. An
// entry covers the names that end with it; a range of addresses covers nothing,
// since many versions of gRPC read none.
std::vector<std::string> DivertedHosts(const std::vector<std::string>& hosts,
                                       const sys::Env& env);

// net-proxy, severity warning: a variable that gRPC obeys, and the members and
// coordinator that no_proxy leaves out. nullopt: none is set, or this process
// has nobody to talk to. Passwords in a proxy's address are not shown.
std::optional<Finding> CheckProxies(const Resolved& resolved,
                                    const sys::Env& env);

}  // namespace muster::resolve
