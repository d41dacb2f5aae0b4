// SPDX-License-Identifier: Apache-2.0
// What `muster check program` says of a graph of TensorFlow, beside the
// verdict.
#pragma once

#include <string>

#include "base/json_fwd.h"
#include "program/compiler/program.h"

namespace muster::cli {

// Lines of text, each with its end: what was judged, notes, and how one gets a
// program that the compiler can judge. `tensorflow`: the version of the active
// Python's, with its source; empty: it has none.
std::string GraphText(const program::ProgramRequest& request,
                      const program::GraphAnswer& answer,
                      const Sourced<std::string>& tensorflow);

// The member `graph` of the document.
Json GraphJson(const program::ProgramRequest& request,
               const program::GraphAnswer& answer,
               const Sourced<std::string>& tensorflow);

}  // namespace muster::cli
