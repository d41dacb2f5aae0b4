// SPDX-License-Identifier: Apache-2.0
// Time: of waits against their bound, of a step's parts, of compilations. Part
// of Derive().
#pragma once

#include <vector>

#include "muster/fact.h"

namespace muster::diagnose {

// Appends what follows from the facts.
void CompareTimes(std::vector<Fact>& facts);

}  // namespace muster::diagnose
