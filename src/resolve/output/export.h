// SPDX-License-Identifier: Apache-2.0
// The environment that a framework needs to see the cluster that was resolved.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "resolve/resolve.h"

namespace muster::resolve {

// Variables by name, for tf, jax, torch or torch_xla. cluster-spec-invalid says
// what the framework needs and no source tells: addresses of all members (tf),
// a coordinator (jax, torch), a TPU slice (torch_xla). usage-invalid: torch,
// for a task that does not train.
Result<std::map<std::string, std::string>> ExportFor(std::string_view framework,
                                                     const Resolved& resolved);

// What `muster resolve --export WHAT` prints: `export NAME='value'` lines for a
// framework or for `shell` (all that apply), a Python cell for `python`.
// usage-invalid for another word.
Result<std::string> ExportText(std::string_view what, const Resolved& resolved);

// The map of tasks as Python prints cluster_spec().as_dict(). Members without
// addresses have none in the map.
std::string SpecText(const Cluster& cluster);

}  // namespace muster::resolve
