// SPDX-License-Identifier: Apache-2.0
// A graph of TensorFlow as it lies in a file: SavedModel or GraphDef, binary or
// text, read without TensorFlow. Only what a judgement needs is kept.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/error.h"
#include "program/graph/operation.h"

namespace muster::program::graph {

// More of them in a file is refused: no memory is taken for them.
constexpr std::size_t kMostNodes = std::size_t{1} << 20;
constexpr std::size_t kMostParts = std::size_t{1} << 22;  // inputs, attributes

enum class Form { kSavedModel, kGraphDef };

struct Attribute {
  std::string_view name;
  std::string_view value;  // bytes of an AttrValue
};

struct Node {
  std::string_view name, op, device;
  std::vector<std::string_view> inputs;  // "node:output:0", "^node"
  std::vector<Attribute> attributes;

  // Bytes of the AttrValue; nullopt: the node has none of this name.
  std::optional<std::string_view> Find(std::string_view attribute) const;
};

// An argument of a function, or an input or output of a signature.
struct Tensor {
  std::string_view name;
  std::string_view tensor;  // of a signature: "serving_default_x:0"
  DataType type = kNoType;  // kNoType: an attribute says it
  // Sizes, -1 for one that is not known; nullopt: the rank is not known.
  std::optional<std::vector<std::int64_t>> shape;
};

struct Function {
  std::string_view name;
  std::vector<Tensor> inputs, outputs;
  std::vector<Node> nodes;
};

struct Signature {
  std::string_view name;
  std::vector<Tensor> inputs, outputs;
};

// One graph with its functions; a SavedModel may have several.
struct MetaGraph {
  std::vector<std::string_view> tags;
  std::string_view version;  // of the TensorFlow that wrote it; may be empty
  std::vector<Node> nodes;
  std::map<std::string_view, Function> functions;
  std::vector<Signature> signatures;
  std::vector<std::string_view> traced;  // functions that the objects have
};

struct GraphFile {
  Form form = Form::kGraphDef;
  bool text = false;
  std::unique_ptr<const std::string> bytes;  // what the views look at
  std::vector<MetaGraph> graphs;
};

// By its first bytes; a file that is cut short or damaged looks like one, too.
bool LooksLikeGraph(std::string_view bytes);

// file-corrupt: cut short, damaged, empty, nested too deeply, or more nodes
// than are read.
Result<GraphFile> ReadGraphFile(std::string bytes);

// Of an AttrValue: its types, those of a list, too; the functions that it
// names.
std::vector<DataType> TypesIn(std::string_view value);
std::vector<std::string_view> FunctionsIn(std::string_view value);
// The sizes of the first shape in an AttrValue; nullopt: none, or unknown rank.
std::optional<std::vector<std::int64_t>> ShapeIn(std::string_view value);

}  // namespace muster::program::graph
