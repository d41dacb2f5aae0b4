// SPDX-License-Identifier: Apache-2.0
// Variables that launchers set together.
#pragma once

#include <string>
#include <vector>

#include "resolve/resolve.h"

namespace muster::resolve {

// Set and not empty: an empty variable counts as not set everywhere.
bool IsSet(const sys::Env& env, const std::string& name);

// A number of processes, 1 to 65536. cluster-spec-invalid names the variable.
Result<int> SizeVariable(const sys::Env& env, const std::string& name);
// A rank, at least 0. cluster-spec-invalid names the variable.
Result<int> RankVariable(const sys::Env& env, const std::string& name);

// A group of variables of which some are set.
struct Variables {
  std::vector<std::string> names;
  std::string setters;  // who sets them normally
};
// launch-env-missing: which are set and to what, which are missing, who sets
// them.
Error PartlySet(const Variables& variables, const sys::Host& host);

// Workers without addresses.
Cluster Unplaced(Sourced<int> size);

}  // namespace muster::resolve
