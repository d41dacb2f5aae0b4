// SPDX-License-Identifier: Apache-2.0
// A step of the user's optimizer, in one pass over memory where that is known.
#pragma once

#include <torch/torch.h>

namespace muster {

// Takes one step of `optimizer`. torch's Adam and AdamW (without amsgrad, over
// dense float32 parameters of this host) go through AdamStep, which leaves the
// optimizer's own state as its step() would, up to rounding: torch's C++
// optimizers make a dozen passes over memory for each parameter, half of the
// time of a step of a small network. All others take their own step().
// Throws what torch throws.
void StepOptimizer(torch::optim::Optimizer& optimizer);

// True when StepOptimizer takes the short way; for tests.
bool IsFused(const torch::optim::Optimizer& optimizer);

}  // namespace muster
