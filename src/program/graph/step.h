// SPDX-License-Identifier: Apache-2.0
// Which operations of a graph a TPU would run: those of the step, without input
// pipeline, checkpoints and what is marked for the host.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "muster/error.h"
#include "program/graph/graph.h"

namespace muster::program::graph {

// Where a step begins. At most one of the two is set; neither: the whole graph
// of a GraphDef.
struct Start {
  const MetaGraph* graph = nullptr;
  const Signature* signature = nullptr;
  const Function* function = nullptr;

  // "signature `serving_default`", "function `step`", "the graph".
  std::string Name() const;
};

// A function, or the main graph, as far as the step runs it.
struct Scope {
  const Function* function = nullptr;  // nullptr: the main graph
  std::vector<const Node*> nodes;      // that the step runs
  int parent = -1;                     // the scope that calls it first
  const Node* call = nullptr;          // there
};

struct Step {
  Start start;
  std::vector<Scope> scopes;  // the first is where it begins
  // A function that calls itself by way of the others; empty: there is none.
  std::vector<std::string_view> cycle;
  // Functions that are called and not in the file, with the scope and node.
  struct Missing {
    std::string_view function;
    int scope = 0;
    const Node* node = nullptr;
  };
  std::vector<Missing> missing;
  // Of the host, in the scopes that were looked at.
  struct Hosted {
    int scope = 0;
    const Node* node = nullptr;
  };
  std::vector<Hosted> pipeline, checkpoint, outside;
  bool marked = false;  // by the rewrite for TPUs: only what it marks counts
};

// Where steps begin: all signatures (but for the initialization of a
// SavedModel) or, without any, the functions that its objects have traced; the
// graph of a GraphDef; with a name, the signature or function of that name (a
// function's name may be without `__inference_` and its number). usage-invalid:
// there is none of that name, and which there are.
Result<std::vector<Start>> FindStarts(const GraphFile& file,
                                      std::string_view name);

// Functions are followed through every attribute that names one, each once;
// cycles end there.
Step FindStep(const Start& start);

// "node" of "node:output:0", "^node" and "node:0".
std::string_view NodeOfInput(std::string_view input);

// Nodes by name, those of a scope's function or graph.
using NodeIndex = std::unordered_map<std::string_view, const Node*>;
NodeIndex IndexOf(const std::vector<Node>& nodes);

}  // namespace muster::program::graph
