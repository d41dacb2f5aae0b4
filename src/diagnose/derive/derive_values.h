// SPDX-License-Identifier: Apache-2.0
// Values that are printed while it trains: a loss that stays that of a guess,
// gradients of zero, the load of a host against its cores. Part of Derive().
#pragma once

#include <vector>

#include "muster/fact.h"

namespace muster::diagnose {

// Appends what follows from the facts.
void CompareValues(std::vector<Fact>& facts);

}  // namespace muster::diagnose
