// SPDX-License-Identifier: Apache-2.0
#include "program/graph/problem.h"

#include <algorithm>

#include "base/text.h"

namespace muster::program::graph {
namespace {

// Nodes that one finding names; the number of all of them is told.
constexpr std::size_t kMaxPlaces = 16;
constexpr std::size_t kMaxProblems = 64;
constexpr std::size_t kLongestStack = 12;
constexpr std::size_t kMaxInputs = 8;

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
      words.text =
          "input " + Quoted(what) + " is a string, which TPUs do not support";
      words.instead =
          "parse and decode in the input pipeline (Dataset.map), which runs on "
          "the host, and pass numbers to the step";
      break;
    case Kind::kStringOutput:
      words.text =
          "output " + Quoted(what) + " is a string, which TPUs do not support";
      words.instead = "return numbers, and map them to strings on the host";
      break;
    default:
      words.text = "the step uses strings, which TPUs do not support";
      words.instead = Instead(what).empty() ? Instead("String") : Instead(what);
  }
  return words;
}

Words WordsOfSize(Kind kind, std::string_view what) {
  Words words;
  if (kind == Kind::kRandomSize) {
    words.text = Quoted(what) + " must be known at compile time, but is random";
    words.instead = "generate it in Python, where the step is called";
    return words;
  }
  words.severity = Severity::kWarning;
  words.confidence = Confidence::kLikely;
  words.text = Quoted(what) +
               " must be known at compile time, but comes from an argument or "
               "a variable";
  words.instead =
      "pass it as a Python number, or derive it from a shape (tf.shape)";
  return words;
}

Words WordsOfInput(Kind kind, std::string_view what) {
  Words words;
  words.severity = Severity::kWarning;
  if (kind == Kind::kPipeline) {
    words.text =
        "a function of the step contains the input pipeline, which runs on the "
        "host, so the function does not compile";
    words.instead =
        "pass only functions that process a batch to strategy.run or "
        "jit_compile";
    return words;
  }
  words.cause = Cause::kPythonInputOnRemoteTpu;
  words.confidence = Confidence::kPossible;
  words.text = "the input pipeline calls Python (in " + Quoted(what) +
               "): it works only if Python runs on the host of the TPU";
  return words;
}

Words WordsOf(Kind kind, std::string_view what) {
  Words words;
  switch (kind) {
    case Kind::kPython:
      words.text = Quoted(what) + " calls Python, which a TPU cannot";
      words.instead = Instead(what);
      return words;
    case Kind::kNoKernel:
      words.text = Quoted(what) + " has no kernel for TPUs";
      words.instead = Instead(what);
      return words;
    case Kind::kMissing:
      words.cause = Cause::kFileCorrupt;
      words.text =
          "function " + Quoted(what) + " is called but not in the file";
      return words;
    case Kind::kUnknown:
      words.severity = Severity::kWarning;
      words.confidence = Confidence::kPossible;
      words.text = Quoted(what) +
                   " is not an operation of TensorFlow 2.21: it is unknown "
                   "whether TPUs have a kernel for it";
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
  if (problem.places.size() < kMaxPlaces) {
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
      "functions call each other recursively, but XLA inlines every call: " +
          Join(names, " → "),
      Confidence::kCertain);
  finding.evidence.push_back(
      {.what = Count(static_cast<std::int64_t>(functions.size()), "function") +
               " in the cycle, reached from " + place.step->start.Name(),
       .source = "graph"});
  finding.fixes.insert(finding.fixes.begin(),
                       {.text = "use tf.while_loop instead of recursion"});
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
    if (names.size() == kMaxInputs) {
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
    if (findings.size() < kMaxProblems) {
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
  add(pipeline_, "input pipeline, which runs on the host");
  add(checkpoint_, "checkpoints, which are not part of the step");
  add(outside_,
      "marked for outside compilation: runs on the host, with a transfer in "
      "every step");
  add(dynamic_, "data-dependent sizes, which a TPU pads to the maximum");
  add(double_, "float64, which a TPU emulates in software, slower");
  add(new_,
      "TensorFlow 2.21 has an XLA kernel, older versions may not have one for "
      "TPUs");
  std::vector<std::string> open;
  for (const auto& [input, shape] : open_inputs_) {
    if (open.size() == kMaxInputs) {
      open.emplace_back("…");
      break;
    }
    open.push_back(input);
    open.back().append(" ").append(shape);
  }
  if (!open.empty()) {
    notes.push_back("inputs without a static size, recompiled for each size: " +
                    Join(open, ", "));
  }
  if (problems_.size() + cycles_.size() > kMaxProblems) {
    notes.push_back("only the first " + std::to_string(kMaxProblems) + " of " +
                    std::to_string(problems_.size() + cycles_.size()) +
                    " findings are shown");
  }
  return notes;
}

}  // namespace muster::program::graph
