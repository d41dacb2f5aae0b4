// SPDX-License-Identifier: Apache-2.0
// Clocks of several hosts on one scale, by the events that they share.
#pragma once

#include <vector>

#include "muster/fact.h"

namespace muster::diagnose {

// Facts named shared.event (fields: key, source or host) tell when a member saw
// what all members see at once: the end of a barrier, a step. A member whose
// clock is away from that of the first member by more than the spread of these
// events has its times moved, and a clock.offset fact says by how much.
void AlignClocks(std::vector<Fact>& facts);

}  // namespace muster::diagnose
