// SPDX-License-Identifier: Apache-2.0
// IDX files: the format of MNIST and of what was made in its image.
//
//   u16 0 | u8 type (8: unsigned bytes) | u8 dimensions | u32 per dimension,
//   big-endian | the elements
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "muster/error.h"

namespace muster {

struct IdxArray {
  std::vector<std::uint32_t> shape;
  std::string bytes;  // the product of the shape, exactly
};

// Reads the bytes of an IDX file of unsigned bytes, plain or gzip, with the
// given number of dimensions. file-corrupt names `what` (a path), what was
// wanted and what was found. Never takes more memory than the file can hold.
Result<IdxArray> ParseIdx(std::string file, int dimensions,
                          std::string_view what);

}  // namespace muster
