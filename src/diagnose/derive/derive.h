// SPDX-License-Identifier: Apache-2.0
// Facts that follow from facts: numbers compared, ranks compared, causes of the
// same text told apart by what else was seen. Pure.
#pragma once

#include <vector>

#include "muster/fact.h"

namespace muster::diagnose {

// Appends what follows from the facts.
void Derive(std::vector<Fact>& facts);

}  // namespace muster::diagnose
