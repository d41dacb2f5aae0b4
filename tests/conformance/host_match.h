// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sys/host.h"

namespace muster::conformance {

// A name or address means this host: any spelling of a loopback address, its
// name, or, looked up, one of its addresses.
bool MatchesThisHost(const std::string& name, const sys::Host& host);

}  // namespace muster::conformance
