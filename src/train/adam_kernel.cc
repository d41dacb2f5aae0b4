// SPDX-License-Identifier: Apache-2.0
#include "train/adam_kernel.h"

#include <cmath>

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

using Function = void (*)(const AdamScalars&, std::size_t, float*, const float*,
                          float*, float*);

void Portable(const AdamScalars& scalars, std::size_t count, float* parameter,
              const float* gradient, float* exp_avg, float* exp_avg_sq) {
  Step(scalars, count, parameter, gradient, exp_avg, exp_avg_sq);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void Avx2(const AdamScalars& scalars, std::size_t count,
                                  float* parameter, const float* gradient,
                                  float* exp_avg, float* exp_avg_sq) {
  Step(scalars, count, parameter, gradient, exp_avg, exp_avg_sq);
}
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] void Avx512(
    const AdamScalars& scalars, std::size_t count, float* parameter,
    const float* gradient, float* exp_avg, float* exp_avg_sq) {
  Step(scalars, count, parameter, gradient, exp_avg, exp_avg_sq);
}
#endif

Function Choose() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return Avx512;
  }
  if (__builtin_cpu_supports("avx2")) {
    return Avx2;
  }
#endif
  return Portable;
}

}  // namespace

void AdamStep(const AdamScalars& scalars, std::size_t count, float* parameter,
              const float* gradient, float* exp_avg, float* exp_avg_sq) {
  static const Function step = Choose();
  step(scalars, count, parameter, gradient, exp_avg, exp_avg_sq);
}

}  // namespace muster
