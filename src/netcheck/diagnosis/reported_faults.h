// SPDX-License-Identifier: Apache-2.0
// Roots that members report, so that nothing has to be inferred. What they
// explain is well in `view` afterwards. Pure.
#pragma once

#include "netcheck/diagnosis/diagnosis_context.h"

namespace muster::netcheck {

// Who has another list of members than most.
void JudgeLists(MeshCase& one, MeshView& view);
void JudgeVersions(MeshCase& one);
void JudgePackages(MeshCase& one);
// Ranks that two processes claim.
void JudgeClaims(MeshCase& one, MeshView& view);
// Ports that another program holds.
void JudgeTaken(MeshCase& one, MeshView& view);
void JudgeLimits(MeshCase& one);
void JudgeWrongMembers(MeshCase& one, MeshView& view);

}  // namespace muster::netcheck
