// SPDX-License-Identifier: Apache-2.0
// What `muster check program` answers, as text and as documents.
#pragma once

#include <span>
#include <string>

#include "base/json_fwd.h"
#include "program/compiler/program_compare.h"

namespace muster::cli {

// 0: it would run; 1: it would not; 3: it could not be found out.
int ExitCodeOf(OutcomeState state);

// The lines above the findings. `tensorflow`: the active Python's, for a graph.
std::string TextOf(const program::AskedProgram& one,
                   const Sourced<std::string>& tensorflow);
std::string TextOfCompilers(std::span<const program::AskedProgram> asked);
std::string TextOfSizes(std::span<const program::AskedProgram> asked);

// muster.program/1.
Json DocumentOf(const program::AskedProgram& one,
                const Sourced<std::string>& tensorflow);
// muster.programs/1: the documents of all, and the outcome of all together.
Json DocumentOfSeveral(std::span<const program::AskedProgram> asked,
                       const Outcome& outcome);

}  // namespace muster::cli
