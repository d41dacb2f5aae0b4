// SPDX-License-Identifier: Apache-2.0
// IDX files, plain and gzip: whatever is read has the size that it tells.
#include <cstdint>
#include <string>

#include "input/idx.h"
#include "tests/fuzz/fuzz.h"

void Fuzz(const std::string& bytes) {
  const std::string& file = bytes;
  for (const int dimensions : {1, 3}) {
    const auto array = muster::ParseIdx(file, dimensions, "fuzz");
    if (!array) {
      MUSTER_CHECK(array.error().cause() == muster::Cause::kFileCorrupt);
      continue;
    }
    std::uint64_t elements = 1;
    for (const std::uint32_t dimension : array->shape) {
      elements *= dimension;
    }
    MUSTER_CHECK(elements == array->bytes.size());
  }
}
