// SPDX-License-Identifier: Apache-2.0
// Faults of paths in words: cause, who saw what, how sure. Pure.
#pragma once

#include "netcheck/diagnosis/diagnosis_context.h"

namespace muster::netcheck {

void JudgeFaults(MeshCase& one, const MeshView& view);

}  // namespace muster::netcheck
