// SPDX-License-Identifier: Apache-2.0
// An artifact of jax.export that was made for a size that is not known yet,
// made into a program of one size: by Python's jax, which alone can do it.
#pragma once

#include <string>

#include "muster/deadline.h"
#include "muster/error.h"

namespace muster::program {

struct SymbolicProgram {
  std::string python;  // an interpreter that has jax
  std::string file;
  std::string symbol;  // "b"
  int size = 0;
};

// StableHLO bytecode. op-unsupported: jax does not take the size, and has said
// why on stderr; deadline-exceeded, program-not-found, os-limit: see
// sys::RunProgram. Main thread.
Result<std::string> Specialise(const SymbolicProgram& program,
                               Deadline deadline);

}  // namespace muster::program
