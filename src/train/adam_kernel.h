// SPDX-License-Identifier: Apache-2.0
// The arithmetic of an Adam step, in one pass over memory. No torch.
#pragma once

#include <cstddef>

namespace muster {

// What is the same for all elements of a parameter in one step. The names are
// those of "Adam: A Method for Stochastic Optimization" (arXiv:1412.6980) and
// of torch.optim.
struct AdamScalars {
  float beta1 = 0;
  float beta2 = 0;
  float grad_share = 0;    // 1 - beta1
  float square_share = 0;  // 1 - beta2
  float step_size = 0;     // learning rate / (1 - beta1^t)
  float root_scale = 0;    // 1 / sqrt(1 - beta2^t)
  float eps = 0;
  float weight_decay = 0;  // Adam: added to the gradient
  float keep = 1;          // AdamW: 1 - learning rate * weight decay
};

// The four arrays of `count` elements must not overlap. Rounds each operation
// by itself, so that hosts with other vector units get the same bits.
void AdamStep(const AdamScalars& scalars, std::size_t count, float* parameter,
              const float* gradient, float* exp_avg, float* exp_avg_sq);

}  // namespace muster
