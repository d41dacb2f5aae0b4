// SPDX-License-Identifier: Apache-2.0
// Arguments of a vector as a request of the command line, claims as outputs.
#pragma once

#include "base/json_fwd.h"
#include "resolve/resolve.h"

namespace muster::conformance {

resolve::Request ToRequest(const Json& args);
Json ToJson(const resolve::Claim& claim);

// Members of an object of arguments; absent when null.
std::optional<int> IntArg(const Json& args, const char* key);
std::optional<std::string> TextArg(const Json& args, const char* key);

}  // namespace muster::conformance
