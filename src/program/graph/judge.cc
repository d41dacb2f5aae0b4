// SPDX-License-Identifier: Apache-2.0
#include "program/graph/judge.h"

#include <algorithm>
#include <memory>
#include <set>
#include <span>

#include "base/text.h"
#include "program/graph/constants.h"
#include "program/graph/problem.h"
#include "program/graph/step.h"

namespace muster::program::graph {
namespace {

// Of resources that the host makes and gives to the step.
bool MakesResource(std::string_view operation) {
  return operation.find("HashTable") != std::string_view::npos ||
         operation.starts_with("InitializeTable") || operation == "VarHandleOp";
}

bool IsPlaceholder(const Node& node) {
  return node.op == "Placeholder";
}

std::string ShapeText(const std::optional<std::vector<std::int64_t>>& shape) {
  if (!shape) {
    return "of unknown rank";
  }
  std::vector<std::string> sizes;
  for (const std::int64_t size : *shape) {
    sizes.push_back(size < 0 ? "?" : std::to_string(size));
  }
  return "(" + Join(sizes, ", ") + ")";
}

bool IsOpen(const std::optional<std::vector<std::int64_t>>& shape) {
  return !shape || std::any_of(shape->begin(), shape->end(),
                               [](std::int64_t size) { return size < 0; });
}

// Judges the operations of one step.
class Judging {
 public:
  Judging(const Step& step, Problems& problems)
      : step_(step), problems_(problems), constants_(step) {}

  Judged Run() {
    JudgeEnds();
    JudgeStructure();
    Judged judged{.name = step_.start.Name(), .marked = step_.marked};
    for (std::size_t i = 0; i < step_.scopes.size(); ++i) {
      const Scope& scope = step_.scopes[i];
      const std::size_t before = judged.operations;
      for (const Node* node : scope.nodes) {
        if (JudgeNode(static_cast<int>(i), *node)) {
          ++judged.operations;
        }
      }
      judged.functions += judged.operations > before ? 1 : 0;
    }
    return judged;
  }

 private:
  Place At(int scope, const Node* node) const {
    return {.step = &step_, .scope = scope, .node = node};
  }

  // Inputs and outputs of the step as a whole.
  void JudgeEnds() {
    const Start& start = step_.start;
    if (step_.marked) {
      return;
    }
    if (start.signature != nullptr) {
      JudgeTensors(start.signature->inputs, start.signature->outputs);
    } else if (start.function != nullptr) {
      JudgeTensors(start.function->inputs, start.function->outputs);
    }
  }

  void JudgeTensors(const std::vector<Tensor>& inputs,
                    const std::vector<Tensor>& outputs) {
    for (const Tensor& input : inputs) {
      if (input.type == kString) {
        problems_.Add(Kind::kStringInput, input.name, At(0, nullptr));
      } else if (step_.start.signature != nullptr && IsOpen(input.shape)) {
        problems_.NoteOpenInput(input.name, ShapeText(input.shape));
      }
    }
    for (const Tensor& output : outputs) {
      if (output.type == kString) {
        problems_.Add(Kind::kStringOutput, output.name, At(0, nullptr));
      }
    }
  }

  void JudgeStructure() {
    if (!step_.cycle.empty()) {
      problems_.AddCycle(step_.cycle, At(0, nullptr));
    }
    for (const Step::Missing& missing : step_.missing) {
      problems_.Add(Kind::kMissing, missing.function,
                    At(missing.scope, missing.node));
    }
    for (const Step::Hosted& hosted : step_.pipeline) {
      const bool inside =
          step_.scopes[static_cast<std::size_t>(hosted.scope)].function !=
              nullptr &&
          !step_.marked;
      if (inside) {
        problems_.Add(Kind::kPipeline, "", At(hosted.scope, hosted.node));
      }
      JudgePipeline(hosted);
    }
    problems_.NoteHosted(step_);
  }

  // Python in the functions of the input pipeline.
  void JudgePipeline(const Step::Hosted& hosted) {
    const MetaGraph& graph = *step_.start.graph;
    std::vector<std::string_view> open;
    const auto follow = [&](const Node& node) {
      for (const Attribute& attribute : node.attributes) {
        for (const std::string_view name : FunctionsIn(attribute.value)) {
          if (looked_at_.insert(name).second) {
            open.push_back(name);
          }
        }
      }
    };
    follow(*hosted.node);
    while (!open.empty()) {
      const auto at = graph.functions.find(open.back());
      open.pop_back();
      if (at == graph.functions.end()) {
        continue;
      }
      for (const Node& node : at->second.nodes) {
        if (CallsPython(node.op)) {
          problems_.Add(Kind::kPythonInput, hosted.node->op,
                        At(hosted.scope, hosted.node));
        }
        follow(node);
      }
    }
  }

  // False: it is no operation that a TPU would run.
  bool JudgeNode(int scope, const Node& node) {
    const bool main =
        step_.scopes[static_cast<std::size_t>(scope)].function == nullptr;
    if (main && IsPlaceholder(node)) {
      JudgePlaceholder(scope, node);
      return false;
    }
    if (node.op == "Const" || node.op == "NoOp" ||
        (main && MakesResource(node.op)) ||
        step_.start.graph->functions.contains(node.op)) {
      return false;
    }
    const Operation* known = FindOperation(node.op);
    if (known == nullptr) {
      problems_.Add(Kind::kUnknown, node.op, At(scope, &node));
      return true;
    }
    if (!known->HasKernel()) {
      return JudgeWithoutKernel(scope, node, *known);
    }
    JudgeWithKernel(scope, node, *known);
    return true;
  }

  void JudgePlaceholder(int scope, const Node& node) {
    const auto type = node.Find("dtype");
    const auto types = type ? TypesIn(*type) : std::vector<DataType>();
    const auto shape = node.Find("shape");
    if (!types.empty() && types.front() == kString) {
      problems_.Add(Kind::kStringInput, node.name, At(scope, &node));
    } else if (shape && IsOpen(ShapeIn(*shape))) {
      problems_.NoteOpenInput(node.name, ShapeText(ShapeIn(*shape)));
    }
  }

  // False: it is computed before the step is compiled.
  bool JudgeWithoutKernel(int scope, const Node& node,
                          const Operation& operation) {
    if (CallsPython(node.op)) {
      problems_.Add(Kind::kPython, node.op, At(scope, &node));
      return true;
    }
    if (constants_.IsFolded(scope, node)) {
      return false;
    }
    problems_.Add(
        operation.Is("string") ? Kind::kStringOperation : Kind::kNoKernel,
        node.op, At(scope, &node));
    return true;
  }

  void JudgeWithKernel(int scope, const Node& node,
                       const Operation& operation) {
    if (operation.IsNew()) {
      problems_.NoteNew(node);
    }
    if (operation.Is("dynamic")) {
      problems_.NoteDynamic(node);
    }
    JudgeTypes(scope, node, operation);
    for (const ConstantInput& input : ConstantInputs(operation)) {
      JudgeConstant(scope, node, input);
    }
  }

  void JudgeTypes(int scope, const Node& node, const Operation& operation) {
    const bool calls = std::any_of(
        node.attributes.begin(), node.attributes.end(),
        [](const Attribute& one) { return !FunctionsIn(one.value).empty(); });
    if (node.op == "Assert" || calls) {
      return;
    }
    bool wide = false;
    for (const Attribute& attribute : node.attributes) {
      if (attribute.name.starts_with('_')) {
        continue;
      }
      const auto allowed = TypesOf(operation, attribute.name);
      for (const DataType type : TypesIn(attribute.value)) {
        wide = wide || type == kDouble;
        JudgeType(scope, node, type, allowed);
      }
    }
    if (wide) {
      problems_.NoteDouble(node);
    }
  }

  void JudgeType(int scope, const Node& node, DataType type,
                 const std::vector<std::string_view>& allowed) {
    if (type == kString) {
      if (!constants_.IsFolded(scope, node)) {
        problems_.Add(Kind::kStringOperation, node.op, At(scope, &node));
      }
      return;
    }
    const bool refused =
        type == kComplex128 || type == kQint32 ||
        (!allowed.empty() && std::find(allowed.begin(), allowed.end(),
                                       NameOf(type)) == allowed.end());
    if (refused) {
      problems_.Add(Kind::kType, NameOf(type), At(scope, &node));
    }
  }

  void JudgeConstant(int scope, const Node& node, const ConstantInput& input) {
    std::vector<std::string_view> inputs;
    for (const std::string_view one : node.inputs) {
      if (!one.starts_with('^')) {
        inputs.push_back(one);
      }
    }
    const int count = static_cast<int>(inputs.size());
    const int place = input.place < 0 ? count + input.place : input.place;
    if (place < 0 || place >= count) {
      return;
    }
    const Source source =
        constants_.Trace(scope, inputs[static_cast<std::size_t>(place)]);
    if (source.origin == Origin::kRandom) {
      problems_.Add(Kind::kRandomSize, input.name, At(scope, &node));
    } else if (source.origin == Origin::kArgument ||
               source.origin == Origin::kVariable) {
      problems_.Add(Kind::kDataSize, input.name, At(scope, &node));
    }
  }

  const Step& step_;
  Problems& problems_;
  Constants constants_;
  std::set<std::string_view> looked_at_;
};

// Each step costs time by the size of the whole file.
std::size_t MostSteps(const GraphFile& file) {
  constexpr std::size_t kMaxSteps = 256;
  std::size_t nodes = 1;
  for (const MetaGraph& graph : file.graphs) {
    nodes += graph.nodes.size() + graph.functions.size();
    for (const auto& [name, function] : graph.functions) {
      nodes += function.nodes.size();
    }
  }
  return std::clamp<std::size_t>(4 * kMaxNodes / nodes, 1, kMaxSteps);
}

}  // namespace

Result<Judgement> JudgeGraph(const GraphFile& file, std::string_view name) {
  MUSTER_ASSIGN(const std::vector<Start> starts, FindStarts(file, name));
  Judgement judgement;
  // Places look at their steps, so all steps stay.
  std::vector<std::unique_ptr<const Step>> steps;
  Problems problems;
  const std::size_t most = MostSteps(file);
  if (starts.size() > most) {
    judgement.notes.push_back(std::to_string(most) + " of " +
                              std::to_string(starts.size()) +
                              " signatures and functions are checked; "
                              "--signature selects another one");
  }
  for (const Start& start :
       std::span(starts).first(std::min(most, starts.size()))) {
    steps.push_back(std::make_unique<const Step>(FindStep(start)));
    judgement.judged.push_back(Judging(*steps.back(), problems).Run());
  }
  judgement.findings = problems.Findings();
  const auto notes = problems.Notes();
  judgement.notes.insert(judgement.notes.end(), notes.begin(), notes.end());
  return judgement;
}

}  // namespace muster::program::graph
