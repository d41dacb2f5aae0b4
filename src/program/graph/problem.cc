// SPDX-License-Identifier: Apache-2.0
#include "program/graph/problem.h"

#include <algorithm>

#include "base/text.h"

namespace muster::program::graph {
namespace {

// Nodes that one finding names; the number of all of them is told.
constexpr std::size_t kMostPlaces = 16;
constexpr std::size_t kMostProblems = 64;
constexpr std::size_t kLongestStack = 12;
constexpr std::size_t kMostInputs = 8;

std::string Quoted(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  return "`" + Printable(text.substr(0, kLongest)) +
         (text.size() > kLongest ? "…" : "") + "`";
}

// "`while_body_3`", or the name of the step where it is no function.
std::string NameOfScope(const Step& step, int scope) {
  const Scope& at = step.scopes[static_cast<std::size_t>(scope)];
  return at.function != nullptr ? Quoted(at.function->name) : step.start.Name();
}

// "`Sin`, node `a` of `f`, called by `b` of `g`, called by `c` of signature
// `s`".
std::string StackOf(const Place& place) {
  const Step& step = *place.step;
  if (place.node == nullptr) {
    return step.start.Name();
  }
  std::string text = Quoted(place.node->op) + ", node " +
                     Quoted(place.node->name) + " of " +
                     NameOfScope(step, place.scope);
  const auto* scope = &step.scopes[static_cast<std::size_t>(place.scope)];
  for (std::size_t depth = 0; scope->parent >= 0; ++depth) {
    if (depth == kLongestStack) {
      return text + ", …";
    }
    text += ", called by " + Quoted(scope->call->name) + " of " +
            NameOfScope(step, scope->parent);
    scope = &step.scopes[static_cast<std::size_t>(scope->parent)];
  }
  return text;
}

struct Words {
  Cause cause = Cause::kOpUnsupported;
  Severity severity = Severity::kError;
  Confidence confidence = Confidence::kCertain;
  std::string text;
  std::string_view instead;
};

Words WordsOfString(Kind kind, std::string_view what) {
  Words words;
  switch (kind) {
    case Kind::kStringInput:
      words.text = "input " + Quoted(what) + " is a string, and a TPU has none";
      words.instead =
          "parse and decode in the input pipeline (Dataset.map), which the "
          "host runs, and give numbers to the step";
      break;
    case Kind::kStringOutput:
      words.text =
          "output " + Quoted(what) + " is a string, and a TPU has none";
      words.instead = "return numbers, and look their words up on the host";
      break;
    default:
      words.text = "the step works on strings, and a TPU has none";
      words.instead = Instead(what).empty() ? Instead("String") : Instead(what);
  }
  return words;
}

Words WordsOfSize(Kind kind, std::string_view what) {
  Words words;
  if (kind == Kind::kRandomSize) {
    words.text = Quoted(what) +
                 " must be known when the step is compiled, and is drawn at "
                 "random";
    words.instead = "draw it in Python, where the step is called";
    return words;
  }
  words.severity = Severity::kWarning;
  words.confidence = Confidence::kLikely;
  words.text = Quoted(what) +
               " must be known when the step is compiled, and comes from an "
               "argument or a variable";
  words.instead =
      "give it as a number of Python, or take it from a shape (tf.shape)";
  return words;
}

Words WordsOfInput(Kind kind, std::string_view what) {
  Words words;
  words.severity = Severity::kWarning;
  if (kind == Kind::kPipeline) {
    words.text =
        "the input pipeline lies in a function of the step: the host runs it, "
        "and the function as a whole does not compile";
    words.instead =
        "give only what works on a batch to strategy.run or jit_compile";
    return words;
  }
  words.cause = Cause::kPythonInputOnRemoteTpu;
  words.confidence = Confidence::kPossible;
  words.text = "the input pipeline calls Python (in " + Quoted(what) +
               "): it works only where the host of the TPU is that Python's";
  return words;
}

Words WordsOf(Kind kind, std::string_view what) {
  Words words;
  switch (kind) {
    case Kind::kPython:
      words.text = Quoted(what) + " calls back into Python, which a TPU cannot";
      words.instead = Instead(what);
      return words;
    case Kind::kNoKernel:
      words.text = Quoted(what) + " has no kernel for TPUs";
      words.instead = Instead(what);
      return words;
    case Kind::kMissing:
      words.cause = Cause::kFileCorrupt;
      words.text =
          "function " + Quoted(what) + " is called and is not in the file";
      return words;
    case Kind::kUnknown:
      words.severity = Severity::kWarning;
      words.confidence = Confidence::kPossible;
      words.text = Quoted(what) +
                   " is no operation of TensorFlow 2.21: whether a TPU has a "
                   "kernel for it is not known here";
      return words;
    case Kind::kType:
      words.severity = Severity::kWarning;
      words.confidence = Confidence::kLikely;
      words.text = "TensorFlow has no kernel for TPUs with " + Quoted(what);
      return words;
    case Kind::kRandomSize:
    case Kind::kDataSize:
      return WordsOfSize(kind, what);
    case Kind::kPipeline:
    case Kind::kPythonInput:
      return WordsOfInput(kind, what);
    default:
      return WordsOfString(kind, what);
  }
}

std::string Nodes(std::size_t count) {
  return Count(static_cast<std::int64_t>(count), "operation");
}

// Its words begin with the operation.
bool NamesOperation(Kind kind) {
  return kind == Kind::kPython || kind == Kind::kNoKernel ||
         kind == Kind::kUnknown;
}

}  // namespace

void Problems::Add(Kind kind, std::string_view what, const Place& place) {
  // An input that must be known has its operation in its name; strings are one
  // fault, whatever works on them.
  std::string key(kind == Kind::kStringOperation ? "" : what);
  if (kind == Kind::kRandomSize || kind == Kind::kDataSize) {
    key += " " + std::string(place.node->op);
  }
  const auto [at, fresh] = index_.try_emplace({kind, key}, problems_.size());
  if (fresh) {
    problems_.push_back({.kind = kind, .what = what});
  }
  Problem& problem = problems_[at->second];
  if (place.node != nullptr && !seen_.insert({at->second, place.node}).second) {
    return;
  }
  ++problem.count;
  if (problem.places.size() < kMostPlaces) {
    problem.places.push_back(place);
  }
}

void Problems::AddCycle(const std::vector<std::string_view>& functions,
                        const Place& place) {
  std::vector<std::string> names;
  for (const std::string_view name : functions) {
    names.push_back(Quoted(name));
    if (names.size() == kLongestStack) {
      names.emplace_back("…");
      break;
    }
  }
  names.push_back(names.front());
  Finding finding = MakeFinding(
      Cause::kOpUnsupported,
      "functions call each other in a circle, and XLA puts every call in its "
      "place: " +
          Join(names, " → "),
      Confidence::kCertain);
  finding.evidence.push_back(
      {.what = Count(static_cast<std::int64_t>(functions.size()), "function") +
               " in the circle, reached from " + place.step->start.Name(),
       .source = "graph"});
  finding.fixes.insert(
      finding.fixes.begin(),
      {.text = "tf.while_loop in place of a function that calls itself"});
  const bool known =
      std::any_of(cycles_.begin(), cycles_.end(),
                  [&](const Finding& one) { return one.what == finding.what; });
  if (!known) {
    cycles_.push_back(std::move(finding));
  }
}

void Problems::Noted::Add(const Node& node) {
  nodes.insert(&node);
  operations.insert(node.op);
}

// "3 operations (`Where`, `Unique`)".
std::string Problems::Noted::Text() const {
  std::vector<std::string> names;
  for (const std::string_view name : operations) {
    if (names.size() == kMostInputs) {
      names.emplace_back("…");
      break;
    }
    names.push_back(Quoted(name));
  }
  return Nodes(nodes.size()) + " (" + Join(names, ", ") + ")";
}

void Problems::NoteOpenInput(std::string_view input, const std::string& shape) {
  open_inputs_.emplace(Quoted(input), shape);
}

void Problems::NoteHosted(const Step& step) {
  for (const Step::Hosted& one : step.pipeline) {
    pipeline_.Add(*one.node);
  }
  for (const Step::Hosted& one : step.checkpoint) {
    checkpoint_.Add(*one.node);
  }
  for (const Step::Hosted& one : step.outside) {
    outside_.Add(*one.node);
  }
}

void Problems::NoteNew(const Node& node) {
  new_.Add(node);
}
void Problems::NoteDynamic(const Node& node) {
  dynamic_.Add(node);
}
void Problems::NoteDouble(const Node& node) {
  double_.Add(node);
}

Finding Problems::FindingOf(const Problem& problem) const {
  const Words words = WordsOf(problem.kind, problem.what);
  std::string what = words.text;
  const Place& first = problem.places.front();
  if (first.node != nullptr && problem.kind != Kind::kStringInput) {
    what += ": ";
    if (problem.count > 1) {
      what += Nodes(problem.count) + ", the first is ";
    }
    if (!NamesOperation(problem.kind)) {
      what += Quoted(first.node->op) + ", ";
    }
    what += "node " + Quoted(first.node->name);
  }
  Finding finding = MakeFinding(words.cause, std::move(what), words.confidence);
  finding.severity = words.severity;
  for (const Place& place : problem.places) {
    finding.evidence.push_back({.what = StackOf(place), .source = "graph"});
  }
  if (!words.instead.empty()) {
    finding.fixes.insert(finding.fixes.begin(),
                         {.text = std::string(words.instead)});
  }
  return finding;
}

std::vector<Finding> Problems::Findings() const {
  std::vector<Finding> findings = cycles_;
  for (const Problem& problem : problems_) {
    if (findings.size() < kMostProblems) {
      findings.push_back(FindingOf(problem));
    }
  }
  std::stable_sort(
      findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
        return a.severity == Severity::kError && b.severity != Severity::kError;
      });
  return findings;
}

std::vector<std::string> Problems::Notes() const {
  std::vector<std::string> notes;
  const auto add = [&](const Noted& noted, std::string_view what) {
    if (!noted.nodes.empty()) {
      notes.push_back(std::string(what) + ": " + noted.Text());
    }
  };
  add(pipeline_, "input pipeline, which the host runs");
  add(checkpoint_, "checkpoints, which are no part of the step");
  add(outside_,
      "marked for outside compilation: the host runs it, with a transfer in "
      "every step");
  add(dynamic_,
      "sizes that depend on data, which a TPU pads to the largest possible");
  add(double_, "float64, which a TPU computes in software, slower");
  add(new_,
      "XLA has a kernel in TensorFlow 2.21, in an older one TPUs may have "
      "none");
  std::vector<std::string> open;
  for (const auto& [input, shape] : open_inputs_) {
    if (open.size() == kMostInputs) {
      open.emplace_back("…");
      break;
    }
    open.push_back(input);
    open.back().append(" ").append(shape);
  }
  if (!open.empty()) {
    notes.push_back("inputs of no fixed size, compiled anew for each: " +
                    Join(open, ", "));
  }
  if (problems_.size() + cycles_.size() > kMostProblems) {
    notes.push_back("only the first " + std::to_string(kMostProblems) + " of " +
                    std::to_string(problems_.size() + cycles_.size()) +
                    " findings are told");
  }
  return notes;
}

}  // namespace muster::program::graph
