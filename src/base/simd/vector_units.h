// SPDX-License-Identifier: Apache-2.0
// One loop compiled for several vector units, chosen once on the host it runs
// on:
//
//   [[gnu::always_inline]] inline void Loop(…) { … }
//   void Portable(…) { Loop(…); }
//   MUSTER_AVX2 void Avx2(…) { Loop(…); }
//   MUSTER_AVX512 void Avx512(…) { Loop(…); }
//   static const auto loop = ForThisHost(Portable, Avx2, Avx512);
//
// Not an ifunc (target_clones): its resolver would run before a sanitizer's own
// start.
#pragma once

#if defined(__x86_64__)
#define MUSTER_AVX2 [[gnu::target("avx2")]]
#define MUSTER_AVX512 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]]
#else
#define MUSTER_AVX2
#define MUSTER_AVX512
#endif

namespace muster {

template <typename Function>
Function ForThisHost(Function portable, [[maybe_unused]] Function avx2,
                     [[maybe_unused]] Function avx512) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return avx512;
  }
  if (__builtin_cpu_supports("avx2")) {
    return avx2;
  }
#endif
  return portable;
}

}  // namespace muster
