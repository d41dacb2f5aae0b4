// SPDX-License-Identifier: Apache-2.0
#include "train/adam_kernel.h"

#include <cmath>

#include "base/simd/vector_units.h"

namespace muster {
namespace {

[[gnu::always_inline]] inline void Step(const AdamScalars& s, std::size_t count,
                                        float* __restrict parameter,
                                        const float* __restrict gradient,
                                        float* __restrict exp_avg,
                                        float* __restrict exp_avg_sq) {
  for (std::size_t i = 0; i < count; ++i) {
    const float value = parameter[i] * s.keep;
    const float grad = gradient[i] + s.weight_decay * value;
    const float mean = exp_avg[i] * s.beta1 + grad * s.grad_share;
    const float square = exp_avg_sq[i] * s.beta2 + grad * grad * s.square_share;
    exp_avg[i] = mean;
    exp_avg_sq[i] = square;
    parameter[i] =
        value - s.step_size * mean / (std::sqrt(square) * s.root_scale + s.eps);
  }
}

void Portable(const AdamScalars& scalars, std::size_t count, float* parameter,
              const float* gradient, float* exp_avg, float* exp_avg_sq) {
  Step(scalars, count, parameter, gradient, exp_avg, exp_avg_sq);
}

MUSTER_AVX2 void Avx2(const AdamScalars& scalars, std::size_t count,
                      float* parameter, const float* gradient, float* exp_avg,
                      float* exp_avg_sq) {
  Step(scalars, count, parameter, gradient, exp_avg, exp_avg_sq);
}
MUSTER_AVX512 void Avx512(const AdamScalars& scalars, std::size_t count,
                          float* parameter, const float* gradient,
                          float* exp_avg, float* exp_avg_sq) {
  Step(scalars, count, parameter, gradient, exp_avg, exp_avg_sq);
}

}  // namespace

void AdamStep(const AdamScalars& scalars, std::size_t count, float* parameter,
              const float* gradient, float* exp_avg, float* exp_avg_sq) {
  static const auto step = ForThisHost(Portable, Avx2, Avx512);
  step(scalars, count, parameter, gradient, exp_avg, exp_avg_sq);
}

}  // namespace muster
