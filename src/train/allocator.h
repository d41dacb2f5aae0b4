// SPDX-License-Identifier: Apache-2.0
// The heap of a training process.
#pragma once

namespace muster {

// Keeps glibc from giving the heap back to the kernel at every step, and from
// mapping each larger tensor anew: a step of a small network spends a third of
// its time in page faults otherwise. Memory that was used once stays with the
// process. Call before the first tensor.
void KeepHeap();

}  // namespace muster
