// SPDX-License-Identifier: Apache-2.0
// Proxy variables that divert what members say to each other.
#pragma once

#include <optional>

#include "resolve/resolve.h"

namespace muster::resolve {

// net-proxy: a variable that gRPC obeys, and the members and the coordinator
// that no_proxy leaves out. A warning where every version of gRPC goes through
// the proxy; a note, possible, where only versions before 1.55 do. nullopt:
// none is set, or this process has nobody to talk to. Passwords in a proxy's
// address are not shown.
std::optional<Finding> CheckProxies(const Resolved& resolved,
                                    const sys::Env& env);

}  // namespace muster::resolve
