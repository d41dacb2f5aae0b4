// SPDX-License-Identifier: Apache-2.0
// For each block of 4 KiB (it stays in the first cache): add the ranks' blocks
// in rank order into a local one, test it, copy it to all ranks. Every byte of
// a slice is read once per rank and written once per rank. The loops are plain;
// the compiler vectorises them, once per instruction set, and the choice is
// made at run time, because the build is for any x86-64.
#include "collective/reduce.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/simd/vector_units.h"

#define MUSTER_INLINE [[gnu::always_inline]] inline

namespace muster {
namespace {

constexpr std::size_t kBlockBytes = 4096;
constexpr std::size_t kLine = 64;

// Elements that are summed as they are; integers wrap, so they are unsigned.
template <typename T>
struct Plain {
  using Element = T;
  using Sum = T;
  MUSTER_INLINE static Sum Load(Element x) { return x; }
  MUSTER_INLINE static Element Store(Sum x) { return x; }
  MUSTER_INLINE static bool Finite(Element x) {
    if constexpr (std::is_same_v<T, float>) {
      constexpr std::uint32_t kExponent = 0x7f800000;
      return (std::bit_cast<std::uint32_t>(x) & kExponent) != kExponent;
    } else if constexpr (std::is_same_v<T, double>) {
      constexpr std::uint64_t kExponent = 0x7ff0000000000000;
      return (std::bit_cast<std::uint64_t>(x) & kExponent) != kExponent;
    }
    return true;
  }
  MUSTER_INLINE static Sum Add(Sum a, Sum b) { return static_cast<Sum>(a + b); }
};

struct Bool : Plain<std::uint8_t> {
  MUSTER_INLINE static Sum Add(Sum a, Sum b) { return static_cast<Sum>(a | b); }
};

struct BFloat16 {
  using Element = std::uint16_t;
  using Sum = float;
  MUSTER_INLINE static Sum Load(Element x) {
    return std::bit_cast<float>(std::uint32_t{x} << 16);
  }
  // Rounds to nearest, ties to even; a NaN stays one.
  MUSTER_INLINE static Element Store(Sum x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
    const bool nan = (bits & 0x7fffffff) > 0x7f800000;
    return static_cast<Element>((nan ? bits | 0x400000 : rounded) >> 16);
  }
  MUSTER_INLINE static bool Finite(Element x) { return (x & 0x7f80) != 0x7f80; }
  MUSTER_INLINE static Sum Add(Sum a, Sum b) { return a + b; }
};

struct Float16 {
  using Element = std::uint16_t;
  using Sum = float;
  MUSTER_INLINE static Sum Load(Element x) {
    const std::uint32_t sign = (std::uint32_t{x} & 0x8000) << 16;
    const std::uint32_t rest = std::uint32_t{x} & 0x7fff;
    if (rest >= 0x7c00) {  // infinity, NaN
      return std::bit_cast<float>(sign | 0x7f800000 | (rest & 0x3ff) << 13);
    }
    // 2^112 lifts the exponent from bias 15 to bias 127, subnormals included.
    const float scaled = std::bit_cast<float>(rest << 13) * 0x1p112F;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | sign);
  }
  // Rounds to nearest, ties to even; a NaN stays one.
  MUSTER_INLINE static Element Store(Sum x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t sign = bits >> 16 & 0x8000;
    const std::uint32_t rest = bits & 0x7fffffff;
    std::uint32_t half = 0;
    if (rest > 0x7f800000) {
      half = 0x7e00;
    } else if (rest >= 0x47800000) {  // 2^16 and above
      half = 0x7c00;
    } else if (rest < 0x38800000) {  // below the smallest normal, 2^-14
      // Adding 0.5 lets the float unit round at the subnormals' last bit.
      const float shifted = std::bit_cast<float>(rest) + 0.5F;
      half = std::bit_cast<std::uint32_t>(shifted) - 0x3f000000;
    } else {
      half = (rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13;
    }
    return static_cast<Element>(sign | half);
  }
  MUSTER_INLINE static bool Finite(Element x) { return (x & 0x7c00) != 0x7c00; }
  MUSTER_INLINE static Sum Add(Sum a, Sum b) { return a + b; }
};

template <typename Kind>
MUSTER_INLINE bool AllFinite(const typename Kind::Element* elements,
                             std::size_t count) {
  unsigned bad = 0;
  for (std::size_t i = 0; i < count; ++i) {
    bad |= Kind::Finite(elements[i]) ? 0U : 1U;
  }
  return bad == 0;
}

// Sums `count` elements (at most a block) at element `first` into `result`.
template <typename Kind>
MUSTER_INLINE void SumBlock(std::span<std::byte* const> buffers,
                            std::size_t first, std::size_t count,
                            typename Kind::Element* __restrict result) {
  using Element = typename Kind::Element;
  using Sum = typename Kind::Sum;
  const auto at = [&](std::size_t rank) {
    return reinterpret_cast<const Element*>(buffers[rank]) + first;
  };
  constexpr bool kDirect = std::is_same_v<Element, Sum>;
  alignas(kLine) std::array<Sum, kDirect ? 1 : kBlockBytes / sizeof(Element)>
      wide;
  Sum* sums = nullptr;
  if constexpr (kDirect) {
    sums = result;
  } else {
    sums = wide.data();
  }
  const Element* const a = at(0);
  const Element* const b = at(1);
  for (std::size_t i = 0; i < count; ++i) {
    sums[i] = Kind::Add(Kind::Load(a[i]), Kind::Load(b[i]));
  }
  for (std::size_t rank = 2; rank < buffers.size(); ++rank) {
    const Element* const more = at(rank);
    for (std::size_t i = 0; i < count; ++i) {
      sums[i] = Kind::Add(sums[i], Kind::Load(more[i]));
    }
  }
  if constexpr (!kDirect) {
    for (std::size_t i = 0; i < count; ++i) {
      result[i] = Kind::Store(sums[i]);
    }
  }
}

// The lowest buffer below `limit` with an element that is not finite.
template <typename Kind>
std::int32_t FirstNotFinite(std::span<std::byte* const> buffers,
                            std::size_t first, std::size_t count,
                            std::int32_t limit) {
  for (std::int32_t rank = 0; rank < limit; ++rank) {
    const auto* elements = reinterpret_cast<const typename Kind::Element*>(
                               buffers[static_cast<std::size_t>(rank)]) +
                           first;
    if (!AllFinite<Kind>(elements, count)) {
      return rank;
    }
  }
  return limit;
}

template <typename Kind>
MUSTER_INLINE std::int32_t Sum(std::span<std::byte* const> buffers,
                               const Stretch& stretch) {
  using Element = typename Kind::Element;
  constexpr std::size_t kBlock = kBlockBytes / sizeof(Element);
  const auto ranks = static_cast<std::int32_t>(buffers.size());
  std::int32_t culprit = ranks + 1;  // above: nothing found
  alignas(kLine) std::array<Element, kBlock> result;
  const std::size_t end = stretch.first + stretch.count;
  for (std::size_t first = stretch.first; first < end; first += kBlock) {
    const std::size_t count = std::min(kBlock, end - first);
    const Element* sums = result.data();
    if (ranks == 1) {
      sums = reinterpret_cast<const Element*>(buffers[0]) + first;
    } else {
      SumBlock<Kind>(buffers, first, count, result.data());
    }
    if (stretch.check_finite && !AllFinite<Kind>(sums, count)) {
      culprit =
          FirstNotFinite<Kind>(buffers, first, count, std::min(culprit, ranks));
    }
    for (std::byte* buffer : buffers) {
      if (ranks > 1) {
        std::memcpy(buffer + first * sizeof(Element), sums,
                    count * sizeof(Element));
      }
    }
  }
  return culprit > ranks ? kAllFinite : culprit;
}

MUSTER_INLINE std::int32_t SumAny(std::span<std::byte* const> buffers,
                                  const Stretch& stretch) {
  switch (stretch.dtype) {
    case DType::kFloat32:
      return Sum<Plain<float>>(buffers, stretch);
    case DType::kFloat64:
      return Sum<Plain<double>>(buffers, stretch);
    case DType::kBFloat16:
      return Sum<BFloat16>(buffers, stretch);
    case DType::kFloat16:
      return Sum<Float16>(buffers, stretch);
    case DType::kInt8:
    case DType::kUInt8:
      return Sum<Plain<std::uint8_t>>(buffers, stretch);
    case DType::kInt32:
      return Sum<Plain<std::uint32_t>>(buffers, stretch);
    case DType::kInt64:
      return Sum<Plain<std::uint64_t>>(buffers, stretch);
    case DType::kBool:
      return Sum<Bool>(buffers, stretch);
  }
  return kAllFinite;
}

std::int32_t SumPortable(std::span<std::byte* const> buffers,
                         const Stretch& stretch) {
  return SumAny(buffers, stretch);
}

MUSTER_AVX2 std::int32_t SumAvx2(std::span<std::byte* const> buffers,
                                 const Stretch& stretch) {
  return SumAny(buffers, stretch);
}
MUSTER_AVX512 std::int32_t SumAvx512(std::span<std::byte* const> buffers,
                                     const Stretch& stretch) {
  return SumAny(buffers, stretch);
}

}  // namespace

std::int32_t SumToAll(std::span<std::byte* const> buffers,
                      const Stretch& stretch) {
  static const auto sum = ForThisHost(SumPortable, SumAvx2, SumAvx512);
  return sum(buffers, stretch);
}

Stretch PartOf(DType dtype, std::size_t count, std::size_t rank,
               std::size_t size) {
  const std::size_t line = kLine / SizeOf(dtype);
  const std::size_t lines = (count + line - 1) / line;
  const auto start = [&](std::size_t part) {
    return std::min(count, lines * part / size * line);
  };
  return {.dtype = dtype,
          .first = start(rank),
          .count = start(rank + 1) - start(rank)};
}

}  // namespace muster
