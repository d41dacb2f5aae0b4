// SPDX-License-Identifier: Apache-2.0
// Summing the same stretch of several ranks' buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "muster/dtype.h"

namespace muster {

// A stretch of every rank's buffer.
struct Stretch {
  DType dtype = DType::kFloat32;
  std::size_t first = 0;  // element
  std::size_t count = 0;  // elements
  bool check_finite = false;
};

// No sum was out of range.
inline constexpr std::int32_t kAllFinite = -1;

// Writes the sum of the stretch, taken in the order of `buffers`, to all of
// them. Returns kAllFinite or, when check_finite is set and a sum is not
// finite, the lowest index of a buffer that held an element there which was not
// finite (buffers.size() when all were and the sum itself overflowed).
// With one buffer it only looks.
std::int32_t SumToAll(std::span<std::byte* const> buffers,
                      const Stretch& stretch);

// The part of `count` elements that one of `size` ranks sums: whole cache
// lines, so that no two ranks write to one.
Stretch PartOf(DType dtype, std::size_t count, std::size_t rank,
               std::size_t size);

}  // namespace muster
