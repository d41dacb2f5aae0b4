// SPDX-License-Identifier: Apache-2.0
// `check program` of a graph of TensorFlow: judged by its operations, without a
// compiler and without TensorFlow.
#pragma once

#include <optional>

#include "program/compiler/program.h"

namespace muster::program {

// nullopt: it is no graph of TensorFlow, or cannot be read at all, which is for
// others to say. A report's verdict: pass, a TPU has a kernel for each
// operation (whether it fits is not known); warn; fail. Errors: usage-invalid
// for a folder that is no SavedModel, a signature that is not there, or flags
// that only a compiler can heed.
Result<std::optional<ProgramReport>> CheckGraph(const ProgramRequest& request,
                                                const sys::Host& host);

}  // namespace muster::program
