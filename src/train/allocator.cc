// SPDX-License-Identifier: Apache-2.0
#include "train/allocator.h"

#include <malloc.h>

namespace muster {

void KeepHeap() {
  constexpr int kGibibyte = 1 << 30;
  mallopt(M_TRIM_THRESHOLD, kGibibyte);
  mallopt(M_MMAP_THRESHOLD, kGibibyte);
}

}  // namespace muster
