// SPDX-License-Identifier: Apache-2.0
// The launch plan for people and for `--output json`: what --dry-run prints.
#pragma once

#include <string>

#include "base/json_fwd.h"
#include "muster/cluster.h"
#include "run/plan/plan.h"

namespace muster::run {

// The document muster.plan/1: {"schema", "cluster": {muster.cluster/1},
// "notes": […], "ranks": [{"rank", "name", "agent", "local_rank",
// "local_size", "argv", "cores", "environment": {NAME: {"value", "source"}},
// "unset"}], "world_size", "attempt", "grace_ms"}.
Json PlanJson(const Cluster& cluster, const Planned& planned);

// What ranks have in common is told once. Rendered from the document.
std::string RenderPlan(const Json& plan);

}  // namespace muster::run
