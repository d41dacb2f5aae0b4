// SPDX-License-Identifier: Apache-2.0
#include "program/graph/text_graph.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.h"
#include "wire/proto_fields.h"

namespace muster::program::graph {
namespace {

enum class Message : std::uint8_t {
  kNone,
  kSavedModel,
  kMetaGraph,
  kMetaInfo,
  kSignatureEntry,
  kSignature,
  kTensorEntry,
  kTensorInfo,
  kShape,
  kDim,
  kObjectGraph,
  kConcreteEntry,
  kGraph,
  kLibrary,
  kFunction,
  kOpDef,
  kArgDef,
  kNode,
  kAttrEntry,
  kAttrValue,
  kList,
  kName,
};

enum class Kind : std::uint8_t { kMessage, kString, kNumber, kType };

struct Field {
  Message in;
  std::string_view name;
  std::uint32_t number;
  Kind kind;
  Message child = Message::kNone;
};

// What graph.cc reads; other fields are passed over. FunctionDef's own
// attributes and those of a function's name are not read.
constexpr auto kFields = std::to_array<Field>({
    {Message::kSavedModel, "saved_model_schema_version", 1, Kind::kNumber},
    {Message::kSavedModel, "meta_graphs", 2, Kind::kMessage,
     Message::kMetaGraph},
    {Message::kMetaGraph, "meta_info_def", 1, Kind::kMessage,
     Message::kMetaInfo},
    {Message::kMetaGraph, "graph_def", 2, Kind::kMessage, Message::kGraph},
    {Message::kMetaGraph, "signature_def", 5, Kind::kMessage,
     Message::kSignatureEntry},
    {Message::kMetaGraph, "object_graph_def", 7, Kind::kMessage,
     Message::kObjectGraph},
    {Message::kMetaInfo, "tags", 4, Kind::kString},
    {Message::kMetaInfo, "tensorflow_version", 5, Kind::kString},
    {Message::kSignatureEntry, "key", 1, Kind::kString},
    {Message::kSignatureEntry, "value", 2, Kind::kMessage, Message::kSignature},
    {Message::kSignature, "inputs", 1, Kind::kMessage, Message::kTensorEntry},
    {Message::kSignature, "outputs", 2, Kind::kMessage, Message::kTensorEntry},
    {Message::kTensorEntry, "key", 1, Kind::kString},
    {Message::kTensorEntry, "value", 2, Kind::kMessage, Message::kTensorInfo},
    {Message::kTensorInfo, "name", 1, Kind::kString},
    {Message::kTensorInfo, "dtype", 2, Kind::kType},
    {Message::kTensorInfo, "tensor_shape", 3, Kind::kMessage, Message::kShape},
    {Message::kShape, "dim", 2, Kind::kMessage, Message::kDim},
    {Message::kShape, "unknown_rank", 3, Kind::kNumber},
    {Message::kDim, "size", 1, Kind::kNumber},
    {Message::kObjectGraph, "concrete_functions", 2, Kind::kMessage,
     Message::kConcreteEntry},
    {Message::kConcreteEntry, "key", 1, Kind::kString},
    {Message::kGraph, "node", 1, Kind::kMessage, Message::kNode},
    {Message::kGraph, "library", 2, Kind::kMessage, Message::kLibrary},
    {Message::kLibrary, "function", 1, Kind::kMessage, Message::kFunction},
    {Message::kFunction, "signature", 1, Kind::kMessage, Message::kOpDef},
    {Message::kFunction, "node_def", 3, Kind::kMessage, Message::kNode},
    {Message::kOpDef, "name", 1, Kind::kString},
    {Message::kOpDef, "input_arg", 2, Kind::kMessage, Message::kArgDef},
    {Message::kOpDef, "output_arg", 3, Kind::kMessage, Message::kArgDef},
    {Message::kArgDef, "name", 1, Kind::kString},
    {Message::kArgDef, "type", 3, Kind::kType},
    {Message::kNode, "name", 1, Kind::kString},
    {Message::kNode, "op", 2, Kind::kString},
    {Message::kNode, "input", 3, Kind::kString},
    {Message::kNode, "device", 4, Kind::kString},
    {Message::kNode, "attr", 5, Kind::kMessage, Message::kAttrEntry},
    {Message::kAttrEntry, "key", 1, Kind::kString},
    {Message::kAttrEntry, "value", 2, Kind::kMessage, Message::kAttrValue},
    {Message::kAttrValue, "list", 1, Kind::kMessage, Message::kList},
    {Message::kAttrValue, "type", 6, Kind::kType},
    {Message::kAttrValue, "shape", 7, Kind::kMessage, Message::kShape},
    {Message::kAttrValue, "func", 10, Kind::kMessage, Message::kName},
    {Message::kList, "type", 6, Kind::kType},
    {Message::kList, "shape", 7, Kind::kMessage, Message::kShape},
    {Message::kList, "func", 9, Kind::kMessage, Message::kName},
    {Message::kName, "name", 1, Kind::kString},
});

const Field* Find(Message in, std::string_view name) {
  const auto* at = std::find_if(
      kFields.begin(), kFields.end(),
      [&](const Field& one) { return one.in == in && one.name == name; });
  return at == kFields.end() ? nullptr : at;
}

bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '+' ||
         c == '-' || c == '/';
}

// Walks over the text once. The depth of what is taken is that of kFields,
// which has no cycle; what is passed over is counted, not descended into.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) {}

  Result<std::string> Read(Message message) {
    std::string bytes;
    if (!TakeFields(message, '\0', bytes)) {
      return Error(Cause::kFileCorrupt,
                   "it is not a graph in text format: " + problem_ +
                       " in line " + std::to_string(Line()));
    }
    return bytes;
  }

 private:
  std::int64_t Line() const {
    return 1 + std::count(text_.begin(),
                          text_.begin() + static_cast<std::ptrdiff_t>(at_),
                          '\n');
  }

  bool Fail(std::string_view problem) {
    problem_ = problem_.empty() ? std::string(problem) : problem_;
    return false;
  }

  // The next byte that is no space, comment or separator; 0 at the end.
  char Peek(bool over_commas = true) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r' ||
                 (over_commas && (c == ',' || c == ';'))) {
        ++at_;
      } else {
        return c;
      }
    }
    return '\0';
  }

  std::string_view TakeWord() {
    Peek();
    const std::size_t begin = at_;
    while (at_ < text_.size() && IsWordByte(text_[at_])) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  bool TakeFields(Message message, char closing, std::string& bytes) {
    while (true) {
      const char next = Peek();
      if (next == closing) {
        at_ += closing == '\0' ? 0 : 1;
        return at_ <= text_.size();
      }
      if (next == '\0') {
        return Fail("it ends within a message");
      }
      if (!TakeField(message, bytes)) {
        return false;
      }
    }
  }

  bool TakeField(Message message, std::string& bytes) {
    const std::string_view name = TakeWord();
    if (name.empty() && Peek() != '[') {
      return Fail("not a field name");
    }
    const Field* field = name.empty() ? nullptr : Find(message, name);
    if (field == nullptr) {
      return Skip();
    }
    if (Peek() == ':') {
      ++at_;
    }
    if (Peek() != '[') {
      return TakeValue(*field, bytes);
    }
    ++at_;
    while (Peek() != ']') {
      if (!TakeValue(*field, bytes)) {
        return false;
      }
    }
    ++at_;
    return true;
  }

  bool TakeValue(const Field& field, std::string& bytes) {
    switch (field.kind) {
      case Kind::kMessage:
        return TakeMessage(field, bytes);
      case Kind::kString: {
        std::string value;
        if (!TakeString(&value)) {
          return false;
        }
        bytes += wire::BytesField(field.number, value);
        return true;
      }
      case Kind::kNumber:
      case Kind::kType:
        return TakeNumber(field, bytes);
    }
    return false;
  }

  bool TakeMessage(const Field& field, std::string& bytes) {
    const char open = Peek();
    if (open != '{' && open != '<') {
      return Fail("`" + std::string(field.name) + "` is not a message");
    }
    ++at_;
    std::string inner;
    if (!TakeFields(field.child, open == '{' ? '}' : '>', inner)) {
      return false;
    }
    bytes += wire::BytesField(field.number, inner);
    return true;
  }

  bool TakeNumber(const Field& field, std::string& bytes) {
    std::string_view word = TakeWord();
    std::optional<std::int64_t> value = ParseInt(word);
    if (word == "true" || word == "false") {
      value = word == "true" ? 1 : 0;
    } else if (field.kind == Kind::kType && word.starts_with("DT_")) {
      std::string name(word.substr(3));
      const bool reference = name.ends_with("_REF");
      name.resize(name.size() - (reference ? 4 : 0));
      std::transform(name.begin(), name.end(), name.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      });
      value = static_cast<int>(DataTypeOf(name).value_or(kNoType)) +
              (reference ? 100 : 0);
    }
    if (!value) {
      return Fail("`" + std::string(field.name) + "` is not a number");
    }
    bytes +=
        wire::NumberField(field.number, static_cast<std::uint64_t>(*value));
    return true;
  }

  // Strings beside each other are one. nullptr: pass over it.
  bool TakeString(std::string* value) {
    if (Peek() != '"' && Peek() != '\'') {
      return Fail("expected a string");
    }
    for (char quote = Peek(); quote == '"' || quote == '\'';
         quote = Peek(false)) {
      ++at_;
      while (at_ < text_.size() && text_[at_] != quote) {
        TakeByte(value);
      }
      if (at_ >= text_.size()) {
        at_ = text_.size();
        return Fail("it ends within a string");
      }
      ++at_;
    }
    return true;
  }

  void TakeByte(std::string* value) {
    char c = text_[at_++];
    if (c == '\\' && at_ < text_.size()) {
      c = text_[at_++];
      if (c >= '0' && c <= '7') {
        int octal = c - '0';
        for (int i = 0; i < 2 && at_ < text_.size() && text_[at_] >= '0' &&
                        text_[at_] <= '7';
             ++i) {
          octal = octal * 8 + (text_[at_++] - '0');
        }
        c = static_cast<char>(octal);
      } else if (c == 'n') {
        c = '\n';
      } else if (c == 't') {
        c = '\t';
      }
    }
    if (value != nullptr) {
      *value += c;
    }
  }

  // One value of a field that is not read: braces are counted.
  bool Skip() {
    std::size_t depth = 0;
    bool took = false;
    while (true) {
      const char next = Peek();
      if (next == '\0') {
        return Fail("it ends within a field");
      }
      if (next == '{' || next == '<' || next == '[') {
        ++depth;
        ++at_;
      } else if (next == '}' || next == '>' || next == ']') {
        if (depth == 0) {
          return Fail("unexpected closing bracket");
        }
        --depth;
        ++at_;
        took = true;
      } else if (next == '"' || next == '\'') {
        if (!TakeString(nullptr)) {
          return false;
        }
        took = true;
      } else if (next == ':') {
        ++at_;
        took = false;
      } else if (TakeWord().empty()) {
        return Fail("unexpected byte");
      } else {
        took = true;
      }
      if (depth == 0 && took && Peek() != ':' && Peek() != '{' &&
          Peek() != '<') {
        return true;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string problem_;
};

}  // namespace

Result<std::string> BytesOfText(std::string_view text, Form form) {
  if (text.size() > kLongestText) {
    return Error(Cause::kFileCorrupt,
                 "its text is longer than the " + BytesText(kLongestText) +
                     " limit; write the graph in binary format");
  }
  return TextReader(text).Read(form == Form::kSavedModel ? Message::kSavedModel
                                                         : Message::kGraph);
}

}  // namespace muster::program::graph
