// SPDX-License-Identifier: Apache-2.0
// What each rank was in when it gave up. Part of Derive().
#pragma once

#include <vector>

#include "muster/fact.h"

namespace muster::diagnose {

// Appends what follows from the facts.
void CompareCollectives(std::vector<Fact>& facts);

}  // namespace muster::diagnose
