// SPDX-License-Identifier: Apache-2.0
// Members that are announced twice, are missing, differ in a version, have a
// role that their cluster has not, or are sought at an address that was not
// named. Part of Derive().
#pragma once

#include <vector>

#include "muster/fact.h"

namespace muster::diagnose {

// Appends what follows from the facts.
void CompareMembers(std::vector<Fact>& facts);

}  // namespace muster::diagnose
