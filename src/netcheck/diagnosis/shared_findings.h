// SPDX-License-Identifier: Apache-2.0
// What members should have in common: files that are the same, folders in which
// they see each other's. Pure.
#pragma once

#include "netcheck/diagnosis/diagnosis_context.h"

namespace muster::netcheck {

void JudgeFiles(MeshCase& one);
// Folders that should be shared, by the marks that members left in them.
void JudgeMarks(MeshCase& one);

}  // namespace muster::netcheck
