// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/json_fwd.h"
#include "sys/host.h"

namespace muster::conformance {

using Query = Result<Json> (*)(const Json& args, const sys::Host& host);
// By the name of the resolver; those that are sources are not among them.
const std::map<std::string, Query>& Queries();

}  // namespace muster::conformance
