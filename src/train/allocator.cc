// SPDX-License-Identifier: Apache-2.0
#include "train/allocator.h"

#include <malloc.h>

namespace muster {

void KeepHeap() {
  constexpr int kGibibyte = 1 << 30;
  // Called by Join, before the threads that make batches.
  // NOLINTBEGIN(concurrency-mt-unsafe)
  mallopt(M_TRIM_THRESHOLD, kGibibyte);
  mallopt(M_MMAP_THRESHOLD, kGibibyte);
  // NOLINTEND(concurrency-mt-unsafe)
}

}  // namespace muster
