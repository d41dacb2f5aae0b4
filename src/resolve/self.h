// SPDX-License-Identifier: Apache-2.0
// Who of the members am I?
#pragma once

#include <optional>
#include <string>

#include "muster/cluster.h"
#include "resolve/resolve.h"

namespace muster::resolve {

// The rank that the user told: --rank or MUSTER_RANK. cluster-spec-invalid when
// it is no rank, or when both are given and differ.
Result<std::optional<Sourced<int>>> GivenRank(const Request& request,
                                              const sys::Host& host);

// True when the host of the address is an address or the name of this host.
// Names are compared, not looked up.
bool IsThisHost(const Address& address, const sys::Env& env);

// The told rank, else the only member whose address is this host's.
// launch-env-missing: several are. net-wrong-endpoint: none is.
// rank-world-mismatch: the told rank is no member's.
Result<Sourced<int>> FindSelf(const Cluster& cluster, const Request& request,
                              const sys::Host& host);

// That this host owns the address of the own task, by its interfaces: a name is
// looked up, and one of its addresses must be here. The line that says so, also
// where there is nothing to compare. net-wrong-endpoint: it is another host's.
// net-loopback-name: the own name leads to a loopback address while others have
// to reach it. net-name-resolution.
Result<std::string> CheckSelf(const Resolved& resolved, const sys::Host& host);

// What is wrong with a list of addresses as seen from this host: an address
// that is good for listening only, an own rank whose address belongs to another
// host while this host has the address of another rank (net-wrong-endpoint).
// Remarked only: a loopback address that others may have to reach
// (net-loopback-name).
Status CheckAddresses(const Cluster& cluster, const sys::Host& host,
                      std::vector<Finding>& remarks);

}  // namespace muster::resolve
