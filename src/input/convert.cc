// SPDX-License-Identifier: Apache-2.0
#include "input/convert.h"

namespace muster {
namespace {

// Vectorised (-O3 for this file), the division is bound by memory.
[[gnu::always_inline]] inline void Convert(const std::uint8_t* bytes,
                                           std::size_t count,
                                           float* __restrict out) {
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = static_cast<float>(bytes[i]) / 255.0F;
  }
}

using Function = void (*)(const std::uint8_t*, std::size_t, float*);

void Portable(const std::uint8_t* bytes, std::size_t count, float* out) {
  Convert(bytes, count, out);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void Avx2(const std::uint8_t* bytes, std::size_t count,
                                  float* out) {
  Convert(bytes, count, out);
}
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] void Avx512(
    const std::uint8_t* bytes, std::size_t count, float* out) {
  Convert(bytes, count, out);
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

void BytesToUnit(const std::uint8_t* bytes, std::size_t count, float* out) {
  static const Function convert = Choose();
  convert(bytes, count, out);
}

}  // namespace muster
