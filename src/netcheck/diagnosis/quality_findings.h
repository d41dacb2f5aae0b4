// SPDX-License-Identifier: Apache-2.0
// What works, and not quite: clocks, translations, faults that healed. Pure.
#pragma once

#include "netcheck/diagnosis/diagnosis_context.h"

namespace muster::netcheck {

void JudgeTranslations(MeshCase& one);
void JudgeClocks(MeshCase& one);
void JudgeHealed(MeshCase& one);

}  // namespace muster::netcheck
