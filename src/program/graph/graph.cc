// SPDX-License-Identifier: Apache-2.0
#include "program/graph/graph.h"

#include <algorithm>
#include <array>

#include "program/graph/text_graph.h"
#include "wire/proto_fields.h"

namespace muster::program::graph {
namespace {

// TensorFlow's shapes have no more.
constexpr std::size_t kMaxSizes = 254;
constexpr std::string_view kDamaged =
    "it is a truncated or corrupt TensorFlow graph";
// What one attribute may name.
constexpr std::size_t kMaxNamed = 1 << 14;

// A value of a map<string, …>: key and bytes of the value.
struct Entry {
  std::string_view key, value;
};

// Reads messages into views. The depth is that of the messages that are read
// here; nothing that may contain itself is descended into.
class GraphReader {
 public:
  Result<std::vector<MetaGraph>> Read(std::string_view bytes, Form form) {
    std::vector<MetaGraph> graphs;
    if (form == Form::kGraphDef) {
      graphs.emplace_back();
      ReadGraph(bytes, graphs.back());
    } else {
      wire::FieldReader at(bytes);
      while (Next(at)) {
        if (at.number() == 2 && graphs.size() < kMaxMetaGraphs) {
          ReadMetaGraph(at.bytes(), graphs.emplace_back());
        }
      }
    }
    if (!problem_.empty()) {
      return Error(Cause::kFileCorrupt, problem_);
    }
    const bool empty =
        std::all_of(graphs.begin(), graphs.end(), [](const MetaGraph& one) {
          return one.nodes.empty() && one.functions.empty();
        });
    if (empty) {
      return Error(Cause::kFileCorrupt, "it is a graph without operations");
    }
    return graphs;
  }

 private:
  static constexpr std::size_t kMaxMetaGraphs = 16;

  void Fail(std::string problem) {
    problem_ = problem_.empty() ? std::move(problem) : problem_;
  }

  // The next field, while nothing is wrong.
  bool Next(wire::FieldReader& at) {
    if (!problem_.empty()) {
      return false;
    }
    if (at.Next()) {
      return true;
    }
    if (at.broken()) {
      Fail(std::string(kDamaged));
    }
    return false;
  }

  bool Take(std::size_t& count, std::size_t most, std::string_view what) {
    if (++count > most) {
      Fail("it has more than the " + std::to_string(most) + " " +
           std::string(what) + " that are supported");
      return false;
    }
    return true;
  }

  Entry ReadEntry(std::string_view bytes) {
    Entry entry;
    wire::FieldReader at(bytes);
    while (Next(at)) {
      if (at.number() == 1) {
        entry.key = at.bytes();
      } else if (at.number() == 2) {
        entry.value = at.bytes();
      }
    }
    return entry;
  }

  void ReadMetaGraph(std::string_view bytes, MetaGraph& graph) {
    wire::FieldReader at(bytes);
    while (Next(at)) {
      switch (at.number()) {
        case 1:
          ReadMetaInfo(at.bytes(), graph);
          break;
        case 2:
          ReadGraph(at.bytes(), graph);
          break;
        case 5:
          ReadSignature(at.bytes(), graph);
          break;
        case 7:
          ReadObjects(at.bytes(), graph);
          break;
        default:
          break;
      }
    }
  }

  void ReadMetaInfo(std::string_view bytes, MetaGraph& graph) {
    wire::FieldReader at(bytes);
    while (Next(at)) {
      if (at.number() == 4 && Take(parts_, kMaxParts, "tags")) {
        graph.tags.push_back(at.bytes());
      } else if (at.number() == 5) {
        graph.version = at.bytes();
      }
    }
  }

  // concrete_functions of a SavedObjectGraph.
  void ReadObjects(std::string_view bytes, MetaGraph& graph) {
    wire::FieldReader at(bytes);
    while (Next(at)) {
      if (at.number() == 2 && Take(parts_, kMaxParts, "functions")) {
        graph.traced.push_back(ReadEntry(at.bytes()).key);
      }
    }
  }

  void ReadSignature(std::string_view bytes, MetaGraph& graph) {
    const Entry entry = ReadEntry(bytes);
    Signature signature{.name = entry.key};
    if (!Take(parts_, kMaxParts, "signatures")) {
      return;
    }
    wire::FieldReader at(entry.value);
    while (Next(at)) {
      if ((at.number() == 1 || at.number() == 2) &&
          Take(parts_, kMaxParts, "inputs and outputs")) {
        (at.number() == 1 ? signature.inputs : signature.outputs)
            .push_back(ReadTensor(ReadEntry(at.bytes())));
      }
    }
    graph.signatures.push_back(std::move(signature));
  }

  Tensor ReadTensor(const Entry& entry) {
    Tensor tensor{.name = entry.key};
    wire::FieldReader at(entry.value);
    while (Next(at)) {
      if (at.number() == 1) {
        tensor.tensor = at.bytes();
      } else if (at.number() == 2) {
        tensor.type = static_cast<DataType>(at.value());
      } else if (at.number() == 3) {
        // As it lies in an AttrValue.
        const std::string value = wire::BytesField(7, at.bytes());
        tensor.shape = ShapeIn(value);
      }
    }
    return tensor;
  }

  void ReadGraph(std::string_view bytes, MetaGraph& graph) {
    wire::FieldReader at(bytes);
    while (Next(at)) {
      if (at.number() == 1) {
        ReadNode(at.bytes(), graph.nodes);
      } else if (at.number() == 2) {
        ReadLibrary(at.bytes(), graph);
      }
    }
  }

  void ReadLibrary(std::string_view bytes, MetaGraph& graph) {
    wire::FieldReader at(bytes);
    while (Next(at)) {
      if (at.number() == 1 && Take(nodes_, kMaxNodes, "operations")) {
        Function function = ReadFunction(at.bytes());
        const std::string_view name = function.name;
        graph.functions.emplace(name, std::move(function));
      }
    }
  }

  Function ReadFunction(std::string_view bytes) {
    Function function;
    wire::FieldReader at(bytes);
    while (Next(at)) {
      if (at.number() == 1) {
        ReadOpDef(at.bytes(), function);
      } else if (at.number() == 3) {
        ReadNode(at.bytes(), function.nodes);
      }
    }
    return function;
  }

  void ReadOpDef(std::string_view bytes, Function& function) {
    wire::FieldReader at(bytes);
    while (Next(at)) {
      if (at.number() == 1) {
        function.name = at.bytes();
      } else if ((at.number() == 2 || at.number() == 3) &&
                 Take(parts_, kMaxParts, "arguments")) {
        (at.number() == 2 ? function.inputs : function.outputs)
            .push_back(ReadArgument(at.bytes()));
      }
    }
  }

  Tensor ReadArgument(std::string_view bytes) {
    Tensor argument;
    wire::FieldReader at(bytes);
    while (Next(at)) {
      if (at.number() == 1) {
        argument.name = at.bytes();
      } else if (at.number() == 3) {
        argument.type = static_cast<DataType>(at.value());
      }
    }
    return argument;
  }

  void ReadNode(std::string_view bytes, std::vector<Node>& nodes) {
    if (!Take(nodes_, kMaxNodes, "operations")) {
      return;
    }
    Node& node = nodes.emplace_back();
    wire::FieldReader at(bytes);
    while (Next(at)) {
      if (at.number() == 1) {
        node.name = at.bytes();
      } else if (at.number() == 2) {
        node.op = at.bytes();
      } else if (at.number() == 4) {
        node.device = at.bytes();
      } else if (at.number() == 3 && Take(parts_, kMaxParts, "inputs")) {
        node.inputs.push_back(at.bytes());
      } else if (at.number() == 5 && Take(parts_, kMaxParts, "attributes")) {
        const Entry entry = ReadEntry(at.bytes());
        node.attributes.push_back({.name = entry.key, .value = entry.value});
      }
    }
    if (node.op.empty()) {
      Fail(std::string(kDamaged));
    }
  }

  std::string problem_;
  std::size_t nodes_ = 0;
  std::size_t parts_ = 0;
};

// Names that the text of a GraphDef or a SavedModel begins with.
struct FirstWord {
  std::string_view word;
  Form form;
};
constexpr auto kFirstWords = std::to_array<FirstWord>({
    {"node", Form::kGraphDef},
    {"library", Form::kGraphDef},
    {"versions", Form::kGraphDef},
    {"saved_model_schema_version", Form::kSavedModel},
    {"meta_graphs", Form::kSavedModel},
});

std::optional<Form> FormOfText(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  while (!text.empty() &&
         (text[0] == '#' || kSpace.find(text[0]) != std::string_view::npos)) {
    const auto end = text[0] == '#' ? text.find('\n') : std::size_t{0};
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  for (const FirstWord& one : kFirstWords) {
    if (!text.starts_with(one.word)) {
      continue;
    }
    const auto rest = text.substr(one.word.size(), 64);
    const auto next = rest.find_first_not_of(kSpace);
    if (next != std::string_view::npos &&
        std::string_view("{:<").find(rest[next]) != std::string_view::npos) {
      return one.form;
    }
  }
  return std::nullopt;
}

// The first field's tag, and what its bytes begin with: a node has a name and
// an operation, a library a function, a SavedModel a version and a graph.
std::optional<Form> FormOfBytes(std::string_view bytes) {
  if (bytes.starts_with("\x08\x01\x12")) {
    return Form::kSavedModel;
  }
  constexpr std::string_view kNode = "\x0A";
  constexpr std::string_view kLibrary = "\x12";
  if (!bytes.starts_with(kNode) && !bytes.starts_with(kLibrary)) {
    return std::nullopt;
  }
  wire::FieldReader first(bytes);
  const bool whole = first.Next();
  std::size_t head = 1;
  while (head < bytes.size() && head < 6 && (bytes[head] & 0x80) != 0) {
    ++head;
  }
  const std::string_view inner =
      whole ? first.bytes() : bytes.substr(std::min(head + 1, bytes.size()));
  if (!inner.starts_with('\x0A') || inner.size() < 3) {
    return std::nullopt;
  }
  const std::size_t behind =
      std::size_t{2} + static_cast<unsigned char>(inner[1]);
  const bool known = bytes.starts_with(kLibrary) || (inner[1] & 0x80) != 0 ||
                     (behind < inner.size() ? inner[behind] == '\x12' : !whole);
  return known ? std::optional(Form::kGraphDef) : std::nullopt;
}

}  // namespace

std::optional<std::string_view> Node::Find(std::string_view attribute) const {
  const auto at =
      std::find_if(attributes.begin(), attributes.end(),
                   [&](const Attribute& one) { return one.name == attribute; });
  return at == attributes.end() ? std::nullopt : std::optional(at->value);
}

bool LooksLikeGraph(std::string_view bytes) {
  return FormOfText(bytes) || FormOfBytes(bytes);
}

Result<GraphFile> ReadGraphFile(std::string bytes) {
  GraphFile file;
  if (const auto text = FormOfText(bytes)) {
    MUSTER_ASSIGN(bytes, BytesOfText(bytes, *text));
    file.form = *text;
    file.text = true;
  } else {
    file.form = FormOfBytes(bytes).value_or(Form::kGraphDef);
  }
  file.bytes = std::make_unique<const std::string>(std::move(bytes));
  MUSTER_ASSIGN(file.graphs, GraphReader().Read(*file.bytes, file.form));
  return file;
}

std::vector<DataType> TypesIn(std::string_view value) {
  std::vector<DataType> types;
  for (wire::FieldReader at(value); at.Next();) {
    if (at.number() == 6) {
      types.push_back(static_cast<DataType>(at.value()));
    } else if (at.number() == 1) {
      for (wire::FieldReader list(at.bytes()); list.Next();) {
        if (list.number() != 6) {
          continue;
        }
        if (!list.has_bytes() && types.size() < kMaxNamed) {
          types.push_back(static_cast<DataType>(list.value()));
        }
        for (const char one : list.bytes().substr(0, kMaxNamed)) {  // packed
          types.push_back(static_cast<DataType>(one & 0x7F));
        }
      }
    }
  }
  return types;
}

std::vector<std::string_view> FunctionsIn(std::string_view value) {
  std::vector<std::string_view> names;
  const auto take = [&](std::string_view function) {
    for (wire::FieldReader at(function); at.Next();) {
      if (at.number() == 1 && names.size() < kMaxNamed) {
        names.push_back(at.bytes());
      }
    }
  };
  for (wire::FieldReader at(value); at.Next();) {
    if (at.number() == 10) {
      take(at.bytes());
    } else if (at.number() == 1) {
      for (wire::FieldReader list(at.bytes()); list.Next();) {
        if (list.number() == 9) {
          take(list.bytes());
        }
      }
    }
  }
  return names;
}

std::optional<std::vector<std::int64_t>> ShapeIn(std::string_view value) {
  for (wire::FieldReader at(value); at.Next();) {
    if (at.number() != 7) {
      continue;
    }
    std::vector<std::int64_t> shape;
    for (wire::FieldReader sizes(at.bytes()); sizes.Next();) {
      if (sizes.number() == 3 && sizes.value() != 0) {
        return std::nullopt;
      }
      if (sizes.number() != 2 || shape.size() >= kMaxSizes) {
        continue;
      }
      std::int64_t size = 0;
      for (wire::FieldReader dim(sizes.bytes()); dim.Next();) {
        size = dim.number() == 1 ? dim.signed_value() : size;
      }
      shape.push_back(size);
    }
    return shape;
  }
  return std::nullopt;
}

}  // namespace muster::program::graph
