// SPDX-License-Identifier: Apache-2.0
// Whether a TPU runs a graph's step: what it has no kernel for, with the node
// and the functions that lead to it. Pure; nothing is run and no TensorFlow is
// needed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "finding/finding.h"
#include "muster/error.h"
#include "program/graph/graph.h"

namespace muster::program::graph {

// A step that was judged.
struct Judged {
  std::string name;            // "signature `serving_default`"
  std::size_t operations = 0;  // that a TPU would run
  std::size_t functions = 0;   // that they lie in
  bool marked = false;         // by the rewrite for TPUs

  bool operator==(const Judged&) const = default;
};

struct Judgement {
  std::vector<Judged> judged;
  std::vector<Finding> findings;  // errors first
  std::vector<std::string> notes;
};

// `name`: a signature or function; empty: all signatures, as FindStarts says.
// usage-invalid: there is none of that name.
Result<Judgement> JudgeGraph(const GraphFile& file, std::string_view name);

}  // namespace muster::program::graph
