// SPDX-License-Identifier: Apache-2.0
#include "input/convert.h"

#include "base/simd/vector_units.h"

namespace muster {
namespace {

// Vectorized (-O3 for this file), the division is bound by memory.
[[gnu::always_inline]] inline void Convert(const std::uint8_t* bytes,
                                           std::size_t count,
                                           float* __restrict out) {
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = static_cast<float>(bytes[i]) / 255.0F;
  }
}

void Portable(const std::uint8_t* bytes, std::size_t count, float* out) {
  Convert(bytes, count, out);
}

MUSTER_AVX2 void Avx2(const std::uint8_t* bytes, std::size_t count,
                      float* out) {
  Convert(bytes, count, out);
}
MUSTER_AVX512 void Avx512(const std::uint8_t* bytes, std::size_t count,
                          float* out) {
  Convert(bytes, count, out);
}

}  // namespace

void BytesToUnit(const std::uint8_t* bytes, std::size_t count, float* out) {
  static const auto convert = ForThisHost(Portable, Avx2, Avx512);
  convert(bytes, count, out);
}

}  // namespace muster
