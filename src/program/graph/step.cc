// SPDX-License-Identifier: Apache-2.0
#include "program/graph/step.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "base/words/suggest.h"

namespace muster::program::graph {
namespace {

constexpr std::string_view kReplicate = "_tpu_replicate";
constexpr std::string_view kUnmanaged = "_xla_outside_compilation";

// Its function is a step of a TPU, whatever is around it.
bool BeginsStep(const Node& node) {
  constexpr std::array<std::string_view, 4> kOperations{
      "TPUReplicate", "_TPUReplicate", "TPUPartitionedCall", "XlaLaunch"};
  return node.Find(kReplicate) ||
         std::find(kOperations.begin(), kOperations.end(), node.op) !=
             kOperations.end();
}

// Consumers of each node.
using Consumers = std::unordered_map<const Node*, std::vector<const Node*>>;

Consumers ConsumersOf(const std::vector<Node>& nodes, const NodeIndex& index) {
  Consumers consumers;
  for (const Node& node : nodes) {
    for (const std::string_view input : node.inputs) {
      const auto at = index.find(NodeOfInput(input));
      if (at != index.end()) {
        consumers[at->second].push_back(&node);
      }
    }
  }
  return consumers;
}

// What the outputs of a signature need, up to its inputs and to what the input
// pipeline gives.
std::vector<const Node*> NeededBy(const Signature& signature,
                                  const NodeIndex& index) {
  std::set<std::string_view> fed;
  for (const Tensor& input : signature.inputs) {
    fed.insert(NodeOfInput(input.tensor));
  }
  std::vector<const Node*> needed;
  std::set<std::string_view> seen;
  const auto take = [&](std::string_view input) {
    const std::string_view name = NodeOfInput(input);
    const auto at = index.find(name);
    if (at != index.end() && !fed.contains(name) && seen.insert(name).second) {
      needed.push_back(at->second);
    }
  };
  for (const Tensor& output : signature.outputs) {
    take(output.tensor);
  }
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (!IsOfPipeline(needed[i]->op)) {
      std::for_each(needed[i]->inputs.begin(), needed[i]->inputs.end(), take);
    }
  }
  return needed;
}

// A node that only serves what stands apart stands apart, too.
void PutApartWhatServes(const MetaGraph& graph, const NodeIndex& index,
                        std::unordered_set<const Node*>& apart,
                        std::vector<const Node*>& queue) {
  if (queue.empty()) {
    return;
  }
  std::unordered_map<const Node*, std::size_t> uses;
  for (const Node& node : graph.nodes) {
    for (const std::string_view input : node.inputs) {
      if (const auto at = index.find(NodeOfInput(input)); at != index.end()) {
        ++uses[at->second];
      }
    }
  }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const std::string_view input : queue[i]->inputs) {
      const auto at = index.find(NodeOfInput(input));
      if (at != index.end() && --uses[at->second] == 0 &&
          apart.insert(at->second).second) {
        queue.push_back(at->second);
      }
    }
  }
}

// Everything of a GraphDef but what only reads or writes checkpoints or makes
// the input pipeline: what hangs behind it, and what nothing else uses.
std::vector<const Node*> AllOf(const MetaGraph& graph, const NodeIndex& index) {
  std::unordered_set<const Node*> apart;
  std::vector<const Node*> queue;
  const auto put_apart = [&](const Node* node) {
    if (apart.insert(node).second) {
      queue.push_back(node);
    }
  };
  for (const Node& node : graph.nodes) {
    if (IsOfCheckpoint(node.op)) {
      put_apart(&node);
    }
  }
  if (!queue.empty()) {
    const Consumers consumers = ConsumersOf(graph.nodes, index);
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const auto at = consumers.find(queue[i]);
      if (at != consumers.end()) {
        std::for_each(at->second.begin(), at->second.end(), put_apart);
      }
    }
  }
  for (const Node& node : graph.nodes) {
    if (IsOfPipeline(node.op)) {
      put_apart(&node);
    }
  }
  PutApartWhatServes(graph, index, apart, queue);
  std::vector<const Node*> nodes;
  for (const Node& node : graph.nodes) {
    if (!apart.contains(&node) || IsOfCheckpoint(node.op) ||
        IsOfPipeline(node.op)) {
      nodes.push_back(&node);
    }
  }
  return nodes;
}

std::vector<const Node*> NodesOf(const Start& start) {
  std::vector<const Node*> nodes;
  if (start.function != nullptr) {
    for (const Node& node : start.function->nodes) {
      nodes.push_back(&node);
    }
    return nodes;
  }
  const NodeIndex index = IndexOf(start.graph->nodes);
  return start.signature != nullptr ? NeededBy(*start.signature, index)
                                    : AllOf(*start.graph, index);
}

// Follows calls, breadth first, so that a function's stack is its shortest.
class Walk {
 public:
  Walk(const Start& start, std::vector<const Node*> nodes, bool marked)
      : graph_(*start.graph) {
    step_.start = start;
    step_.marked = marked;
    AddScope(start.function, std::move(nodes), !marked);
  }

  Step Run() {
    for (std::size_t i = 0; i < step_.scopes.size(); ++i) {
      Visit(static_cast<int>(i));
    }
    FindCycle();
    return std::move(step_);
  }

  // Whether the rewrite for TPUs has marked a node on the way.
  bool FoundMark() const { return found_mark_; }

 private:
  int AddScope(const Function* function, std::vector<const Node*> nodes,
               bool inside) {
    if (function != nullptr) {
      known_[{function, inside}] = static_cast<int>(step_.scopes.size());
    }
    step_.scopes.push_back({.function = function, .nodes = std::move(nodes)});
    inside_.push_back(inside);
    calls_.emplace_back();
    return static_cast<int>(step_.scopes.size()) - 1;
  }

  void Visit(int scope) {
    const auto at = static_cast<std::size_t>(scope);
    const std::vector<const Node*> nodes = std::move(step_.scopes[at].nodes);
    std::vector<const Node*> kept;
    for (const Node* node : nodes) {
      const bool begins = BeginsStep(*node);
      found_mark_ = found_mark_ || begins;
      if (node->Find(kUnmanaged)) {
        step_.outside.push_back({.scope = scope, .node = node});
      } else if (IsOfPipeline(node->op)) {
        step_.pipeline.push_back({.scope = scope, .node = node});
      } else if (IsOfCheckpoint(node->op)) {
        step_.checkpoint.push_back({.scope = scope, .node = node});
      } else {
        if (inside_[at] || node->Find(kReplicate)) {
          kept.push_back(node);
        }
        FollowCalls(scope, *node, inside_[at] || begins);
      }
    }
    step_.scopes[at].nodes = std::move(kept);
  }

  void FollowCalls(int scope, const Node& node, bool inside) {
    if (graph_.functions.contains(node.op)) {
      Call(scope, node, node.op, inside);
    }
    for (const Attribute& attribute : node.attributes) {
      for (const std::string_view name : FunctionsIn(attribute.value)) {
        Call(scope, node, name, inside);
      }
    }
  }

  void Call(int scope, const Node& node, std::string_view name, bool inside) {
    const auto function = graph_.functions.find(name);
    if (function == graph_.functions.end()) {
      step_.missing.push_back(
          {.function = name, .scope = scope, .node = &node});
      return;
    }
    const auto known = known_.find({&function->second, inside});
    int callee = known == known_.end() ? -1 : known->second;
    if (callee < 0) {
      std::vector<const Node*> nodes;
      for (const Node& one : function->second.nodes) {
        nodes.push_back(&one);
      }
      callee = AddScope(&function->second, std::move(nodes), inside);
      step_.scopes[static_cast<std::size_t>(callee)].parent = scope;
      step_.scopes[static_cast<std::size_t>(callee)].call = &node;
    }
    calls_[static_cast<std::size_t>(scope)].push_back(callee);
  }

  // Takes away scopes that call none of what is left. What remains calls one
  // that remains, so a walk along such calls comes back.
  void FindCycle() {
    std::vector<std::size_t> left(calls_.size());
    std::vector<std::vector<std::size_t>> callers(calls_.size());
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      left[i] = calls_[i].size();
      for (const int callee : calls_[i]) {
        callers[static_cast<std::size_t>(callee)].push_back(i);
      }
      if (left[i] == 0) {
        ready.push_back(i);
      }
    }
    for (std::size_t i = 0; i < ready.size(); ++i) {
      for (const std::size_t caller : callers[ready[i]]) {
        if (--left[caller] == 0) {
          ready.push_back(caller);
        }
      }
    }
    if (ready.size() < calls_.size()) {
      WalkCycle(left);
    }
  }

  void WalkCycle(const std::vector<std::size_t>& left) {
    auto at = static_cast<std::size_t>(
        std::find_if(left.begin(), left.end(),
                     [](std::size_t one) { return one > 0; }) -
        left.begin());
    std::vector<std::size_t> way;
    std::vector<bool> seen(calls_.size());
    while (!seen[at]) {
      seen[at] = true;
      way.push_back(at);
      at = static_cast<std::size_t>(
          *std::find_if(calls_[at].begin(), calls_[at].end(), [&](int callee) {
            return left[static_cast<std::size_t>(callee)] > 0;
          }));
    }
    for (auto one = std::find(way.begin(), way.end(), at); one != way.end();
         ++one) {
      step_.cycle.push_back(step_.scopes[*one].function->name);
    }
  }

  const MetaGraph& graph_;
  Step step_;
  std::vector<bool> inside_;
  std::vector<std::vector<int>> calls_;
  std::map<std::pair<const Function*, bool>, int> known_;
  bool found_mark_ = false;
};

// "step" of "__inference_step_12".
std::string_view GivenName(std::string_view function) {
  constexpr std::string_view kPrefix = "__inference_";
  if (function.starts_with(kPrefix)) {
    function.remove_prefix(kPrefix.size());
    const auto line = function.rfind('_');
    if (line != std::string_view::npos && IsDigits(function.substr(line + 1))) {
      function = function.substr(0, line);
    }
  }
  return function;
}

bool IsInitialisation(std::string_view signature) {
  return signature == "__saved_model_init_op";
}

void AddStarts(const MetaGraph& graph, std::vector<Start>& starts) {
  const std::size_t before = starts.size();
  for (const Signature& signature : graph.signatures) {
    if (!IsInitialisation(signature.name)) {
      starts.push_back({.graph = &graph, .signature = &signature});
    }
  }
  if (starts.size() > before) {
    return;
  }
  for (const std::string_view name : graph.traced) {
    if (const auto at = graph.functions.find(name);
        at != graph.functions.end()) {
      starts.push_back({.graph = &graph, .function = &at->second});
    }
  }
}

void AddNamed(const MetaGraph& graph, std::string_view name,
              std::vector<Start>& starts, std::set<std::string>& known) {
  for (const Signature& signature : graph.signatures) {
    known.emplace(signature.name);
    if (signature.name == name) {
      starts.push_back({.graph = &graph, .signature = &signature});
      return;
    }
  }
  for (const auto& [full, function] : graph.functions) {
    known.emplace(GivenName(full));
    if (full == name || GivenName(full) == name) {
      starts.push_back({.graph = &graph, .function = &function});
    }
  }
}

}  // namespace

std::string Start::Name() const {
  if (signature != nullptr) {
    return "signature `" + Printable(signature->name) + "`";
  }
  return function != nullptr ? "function `" + Printable(function->name) + "`"
                             : "the graph";
}

std::string_view NodeOfInput(std::string_view input) {
  if (input.starts_with('^')) {
    input.remove_prefix(1);
  }
  return input.substr(0, input.find(':'));
}

NodeIndex IndexOf(const std::vector<Node>& nodes) {
  NodeIndex index;
  for (const Node& node : nodes) {
    index.emplace(node.name, &node);
  }
  return index;
}

Result<std::vector<Start>> FindStarts(const GraphFile& file,
                                      std::string_view name) {
  std::vector<Start> starts;
  std::set<std::string> known;
  for (const MetaGraph& graph : file.graphs) {
    if (!name.empty()) {
      AddNamed(graph, name, starts, known);
    } else if (file.form == Form::kGraphDef && !graph.nodes.empty()) {
      starts.push_back({.graph = &graph});
    } else if (file.form == Form::kGraphDef) {
      for (const auto& [full, function] : graph.functions) {
        starts.push_back({.graph = &graph, .function = &function});
      }
    } else {
      AddStarts(graph, starts);
    }
  }
  if (starts.empty() && !name.empty()) {
    const std::vector<std::string> names(known.begin(), known.end());
    const auto meant = DidYouMean(name, names);
    return Error(
        Cause::kUsageInvalid,
        "no signature or function `" + Printable(name) + "`" +
            (meant ? ", did you mean `" + Printable(*meant) + "`?" : ""));
  }
  if (starts.empty()) {
    return Error(Cause::kUsageInvalid,
                 "it has neither a signature nor a function to check: save it "
                 "with signatures=…");
  }
  return starts;
}

Step FindStep(const Start& start) {
  const std::vector<const Node*> nodes = NodesOf(start);
  Walk search(start, nodes, true);
  Step marked = search.Run();
  return search.FoundMark() ? std::move(marked)
                            : Walk(start, nodes, false).Run();
}

}  // namespace muster::program::graph
