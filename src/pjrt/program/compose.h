// SPDX-License-Identifier: Apache-2.0
// A data-parallel step out of two programs for one device: StableHLO text in,
// StableHLO text out. Pure.
#pragma once

#include <string>

#include "muster/error.h"
#include "muster/pjrt.h"

namespace muster::pjrt {

// "tensor<784x10xf32>".
std::string TypeOf(const TensorSpec& spec);

// One module whose main takes (state…, batch…) and gives (state…, metrics…) on
// each of `replicas` replicas: the program's gradient, the mean of gradients
// and metrics over all replicas (all_reduce, StableHLO specification), its
// update. The state of the arguments becomes that of the results in place.
// usage-invalid: bytecode, or text that is not one module whose functions can
// be taken over (aliases at its top level, no @main).
Result<std::string> Compose(const StepProgram& program, int replicas);

}  // namespace muster::pjrt
