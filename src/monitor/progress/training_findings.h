// SPDX-License-Identifier: Apache-2.0
// What is wrong with a training in which nothing failed. Pure; any thread.
#pragma once

#include <span>
#include <vector>

#include "finding/finding.h"
#include "muster/fact.h"

namespace muster::monitor {

// input-starved: a rank waits for input during more than 30 % of its step time.
// training-plateau (possible): the loss stays at chance, or the weights do not
// change, for 200 steps. Of the newest attempt in which steps were done.
std::vector<Finding> JudgeTraining(std::span<const Fact> facts);

}  // namespace muster::monitor
