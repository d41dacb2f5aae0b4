// SPDX-License-Identifier: Apache-2.0
// What was found in the steps of a graph, gathered by kind and operation, and
// told as findings and notes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "finding/finding.h"
#include "program/graph/step.h"

namespace muster::program::graph {

enum class Kind {
  kPython,           // calls back into Python
  kStringOperation,  // works on strings
  kStringInput,
  kStringOutput,
  kNoKernel,
  kRandomSize,   // a size that is drawn at random
  kMissing,      // a function that is not in the file
  kUnknown,      // an operation that TensorFlow does not have
  kType,         // an element type without a kernel
  kDataSize,     // a size that an argument or a variable says
  kPipeline,     // the input pipeline in a function of the step
  kPythonInput,  // Python in the input pipeline
};

// A node; nullptr: the step itself.
struct Place {
  const Step* step = nullptr;
  int scope = 0;
  const Node* node = nullptr;
};

// Steps and their file outlive it. One thread.
class Problems {
 public:
  // `what`: operation, type, input or function, by the kind.
  void Add(Kind kind, std::string_view what, const Place& place);
  void AddCycle(const std::vector<std::string_view>& functions,
                const Place& place);
  void NoteOpenInput(std::string_view input, const std::string& shape);
  void NoteHosted(const Step& step);
  void NoteNew(const Node& node);
  void NoteDynamic(const Node& node);
  void NoteDouble(const Node& node);

  // Errors before warnings, then in the order in which they were met.
  std::vector<Finding> Findings() const;
  std::vector<std::string> Notes() const;

 private:
  struct Problem {
    Kind kind;
    std::string_view what;
    std::vector<Place> places;  // the first ones
    std::size_t count = 0;
  };
  // Nodes of one note, each once.
  struct Noted {
    std::set<const Node*> nodes;
    std::set<std::string_view> operations;
    void Add(const Node& node);
    std::string Text() const;
  };

  Finding FindingOf(const Problem& problem) const;

  std::vector<Problem> problems_;
  std::map<std::pair<Kind, std::string>, std::size_t> index_;
  std::set<std::pair<std::size_t, const Node*>> seen_;
  std::vector<Finding> cycles_;
  std::map<std::string, std::string> open_inputs_;
  Noted pipeline_, checkpoint_, outside_, new_, dynamic_, double_;
};

}  // namespace muster::program::graph
