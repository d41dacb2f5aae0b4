// SPDX-License-Identifier: Apache-2.0
#include "pjrt/program/hlo.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "wire/proto_fields.h"

namespace muster::pjrt {
namespace {

// Numbers of fields in XLA's messages.
namespace field {
constexpr std::uint32_t kModule = 1;  // with config
constexpr std::uint32_t kComputations = 3, kEntryId = 6, kFrames = 17;
constexpr std::uint32_t kInstructions = 2, kComputationId = 5, kRootId = 6;
constexpr std::uint32_t kName = 1, kOpcode = 2, kShape = 3, kMetadata = 7,
                        kParameter = 9, kTupleIndex = 13, kId = 35,
                        kOperands = 36, kCalled = 38;
constexpr std::uint32_t kElement = 2, kDimensions = 3, kTuple = 4, kLayout = 5;
constexpr std::uint32_t kMinorToMajor = 1, kTiles = 6, kBits = 7, kSpace = 8;
constexpr std::uint32_t kTileDimensions = 1;
constexpr std::uint32_t kOpName = 2, kSourceFile = 3, kSourceLine = 4,
                        kFrameId = 15;
constexpr std::uint32_t kFileNames = 1, kFileLocations = 3, kStackFrames = 4;
constexpr std::uint32_t kFileNameId = 1, kLocationLine = 3, kLocationId = 1;
}  // namespace field

struct Element {
  std::string_view name;
  int bits;
};

// By XLA's number of the type.
constexpr std::array<Element, 34> kElements{
    {{"?", 0},          {"pred", 8},       {"s8", 8},     {"s16", 16},
     {"s32", 32},       {"s64", 64},       {"u8", 8},     {"u16", 16},
     {"u32", 32},       {"u64", 64},       {"f16", 16},   {"f32", 32},
     {"f64", 64},       {"tuple", 0},      {"opaque", 0}, {"c64", 64},
     {"bf16", 16},      {"token", 0},      {"c128", 128}, {"f8e5m2", 8},
     {"f8e4m3fn", 8},   {"s4", 4},         {"u4", 4},     {"f8e4m3b11fnuz", 8},
     {"f8e5m2fnuz", 8}, {"f8e4m3fnuz", 8}, {"s2", 2},     {"u2", 2},
     {"f8e4m3", 8},     {"f8e3m4", 8},     {"s1", 1},     {"u1", 1},
     {"f4e2m1fn", 4},   {"f8e8m0fnu", 8}}};
constexpr std::uint64_t kTupleType = 13;

// Numbers of a repeated field, packed or not.
void Append(const wire::FieldReader& at, std::vector<std::int64_t>& numbers) {
  if (!at.has_bytes()) {
    numbers.push_back(at.signed_value());
    return;
  }
  const auto more = wire::PackedNumbers(at.bytes());
  numbers.insert(numbers.end(), more.begin(), more.end());
}

struct Shape {
  std::uint64_t element = 0;
  std::vector<std::int64_t> dimensions, minor_to_major;
  std::vector<std::vector<std::int64_t>> tiles;
  std::int64_t bits = 0;  // of an element where the layout says so
  std::int64_t space = 0;
  std::vector<std::string_view> parts;  // of a tuple
};

void ReadLayout(std::string_view bytes, Shape& shape) {
  for (wire::FieldReader at(bytes); at.Next();) {
    if (at.number() == field::kMinorToMajor) {
      Append(at, shape.minor_to_major);
    } else if (at.number() == field::kTiles) {
      auto& tile = shape.tiles.emplace_back();
      for (wire::FieldReader in(at.bytes()); in.Next();) {
        if (in.number() == field::kTileDimensions) {
          Append(in, tile);
        }
      }
    } else if (at.number() == field::kBits) {
      shape.bits = at.signed_value();
    } else if (at.number() == field::kSpace) {
      shape.space = at.signed_value();
    }
  }
}

Shape ReadShape(std::string_view bytes) {
  Shape shape;
  for (wire::FieldReader at(bytes); at.Next();) {
    if (at.number() == field::kElement) {
      shape.element = at.value();
    } else if (at.number() == field::kDimensions) {
      Append(at, shape.dimensions);
    } else if (at.number() == field::kTuple) {
      shape.parts.push_back(at.bytes());
    } else if (at.number() == field::kLayout) {
      ReadLayout(at.bytes(), shape);
    }
  }
  return shape;
}

// The product; nullopt: none that memory could have.
std::optional<std::int64_t> Elements(const std::vector<std::int64_t>& sides) {
  constexpr std::int64_t kMaxCount = std::int64_t{1} << 56;
  std::int64_t product = 1;
  for (const std::int64_t side : sides) {
    if (side < 0 || __builtin_mul_overflow(product, side, &product) ||
        product > kMaxCount) {
      return std::nullopt;
    }
  }
  return product;
}

// The sides of the array as it lies, major first: each tile takes the minor
// sides of what is there to whole multiples of its own. A tile that is no plain
// block (a side below 1) ends it.
std::vector<std::int64_t> Tiled(const Shape& shape) {
  std::vector<std::int64_t> sides;
  for (auto at = shape.minor_to_major.rbegin();
       at != shape.minor_to_major.rend(); ++at) {
    const auto place = static_cast<std::size_t>(*at);
    sides.push_back(place < shape.dimensions.size() ? shape.dimensions[place]
                                                    : 1);
  }
  for (const auto& tile : shape.tiles) {
    if (std::any_of(tile.begin(), tile.end(),
                    [](std::int64_t side) { return side < 1; })) {
      break;
    }
    if (sides.size() < tile.size()) {
      sides.insert(sides.begin(), tile.size() - sides.size(), 1);
    }
    const std::size_t first = sides.size() - tile.size();
    for (std::size_t i = 0; i < tile.size(); ++i) {
      const std::int64_t side = sides[first + i];
      sides[first + i] = side / tile[i] + (side % tile[i] != 0 ? 1 : 0);
    }
    sides.insert(sides.end(), tile.begin(), tile.end());
  }
  return sides;
}

std::string ShapeText(const Shape& shape) {
  std::vector<std::string> sides;
  for (const std::int64_t side : shape.dimensions) {
    sides.push_back(std::to_string(side));
  }
  return std::string(kElements[shape.element].name) + "[" + Join(sides, ",") +
         "]";
}

struct Size {
  std::int64_t bytes = 0, padding = 0;
};

// nullopt: no array in HBM.
Result<std::optional<Size>> SizeOf(const Shape& shape) {
  const bool known = shape.element < kElements.size();
  const std::int64_t bits = !known           ? 0
                            : shape.bits > 0 ? shape.bits
                                             : kElements[shape.element].bits;
  if (bits == 0 || shape.space != 0) {
    return std::optional<Size>();
  }
  const auto elements = Elements(shape.dimensions);
  const auto tiled = Elements(Tiled(shape));
  if (!elements || !tiled || bits > 128) {
    return Error(Cause::kFileCorrupt,
                 "the compiled program has an array of impossible size: " +
                     ShapeText(shape));
  }
  const auto in_bytes = [bits](std::int64_t count) {
    return (count / 8) * bits + ((count % 8) * bits + 7) / 8;
  };
  const std::int64_t plain = in_bytes(*elements);
  const std::int64_t bytes = std::max(plain, in_bytes(*tiled));
  return std::optional<Size>({bytes, bytes - plain});
}

// Files and lines by the number of a frame of a stack.
class Places {
 public:
  explicit Places(std::string_view frames) {
    for (wire::FieldReader at(frames); at.Next();) {
      if (at.number() == field::kFileNames) {
        files_.push_back(at.bytes());
      } else if (at.number() == field::kFileLocations) {
        locations_.push_back(at.bytes());
      } else if (at.number() == field::kStackFrames) {
        frames_.push_back(at.bytes());
      }
    }
  }

  std::string Of(std::uint64_t frame) const {
    const auto location = Number(Numbered(frames_, frame), field::kLocationId);
    const std::string_view at = Numbered(locations_, location);
    return Text(Numbered(files_, Number(at, field::kFileNameId)),
                Number(at, field::kLocationLine));
  }

  // "train.py:12"; "line 12" of a program that was read from text.
  static std::string Text(std::string_view file, std::uint64_t line) {
    if (file.empty() || line == 0) {
      return "";
    }
    const std::string number = std::to_string(line);
    return file == "-"
               ? "line " + number
               : Printable(file.substr(file.rfind('/') + 1)) + ":" + number;
  }

 private:
  using Messages = std::vector<std::string_view>;

  // Numbers begin at 1.
  static std::string_view Numbered(const Messages& all, std::uint64_t number) {
    return number >= 1 && number <= all.size() ? all[number - 1]
                                               : std::string_view();
  }
  static std::uint64_t Number(std::string_view message, std::uint32_t number) {
    std::uint64_t value = 0;
    for (wire::FieldReader at(message); at.Next();) {
      value = at.number() == number ? at.value() : value;
    }
    return value;
  }

  Messages files_, locations_, frames_;
};

struct Instruction {
  std::int64_t id = 0;
  std::int64_t parameter = 0;
  std::int64_t tuple_index = 0;
  std::string_view name, opcode, shape, metadata;
  std::vector<std::int64_t> operands, called;
};

Instruction ReadInstruction(std::string_view bytes) {
  Instruction one;
  for (wire::FieldReader at(bytes); at.Next();) {
    switch (at.number()) {
      case field::kName:
        one.name = at.bytes();
        break;
      case field::kOpcode:
        one.opcode = at.bytes();
        break;
      case field::kShape:
        one.shape = at.bytes();
        break;
      case field::kMetadata:
        one.metadata = at.bytes();
        break;
      case field::kParameter:
        one.parameter = at.signed_value();
        break;
      case field::kTupleIndex:
        one.tuple_index = at.signed_value();
        break;
      case field::kOperands:
        Append(at, one.operands);
        break;
      case field::kId:
        one.id = at.signed_value();
        break;
      case field::kCalled:
        Append(at, one.called);
        break;
      default:
        break;
    }
  }
  return one;
}

// The sum, or the largest number where it is beyond all memories.
std::int64_t Plus(std::int64_t sum, std::int64_t bytes, int count) {
  std::int64_t all = 0;
  return __builtin_mul_overflow(bytes, count, &all) ||
                 __builtin_add_overflow(sum, all, &sum)
             ? std::numeric_limits<std::int64_t>::max()
             : sum;
}

// Its result is the memory of others.
bool IsView(std::string_view opcode) {
  constexpr std::array<std::string_view, 9> kViews{
      "parameter",      "tuple",     "get-tuple-element",
      "bitcast",        "after-all", "optimization-barrier",
      "add-dependency", "domain",    "partition-id"};
  return opcode.ends_with("-start") ||
         std::find(kViews.begin(), kViews.end(), opcode) != kViews.end();
}

// Runs other computations in the memory of this one.
bool Enters(std::string_view opcode) {
  return opcode == "while" || opcode == "call" || opcode == "conditional";
}

class Reader {
 public:
  explicit Reader(std::string_view module) {
    for (wire::FieldReader at(module); at.Next();) {
      if (at.number() == field::kComputations) {
        AddComputation(at.bytes());
      } else if (at.number() == field::kEntryId) {
        entry_ = at.signed_value();
      } else if (at.number() == field::kFrames) {
        places_ = Places(at.bytes());
      }
    }
  }

  Result<Holdings> Read() {
    const auto entry = computations_.find(entry_);
    if (entry == computations_.end()) {
      return Error(Cause::kFileCorrupt,
                   "the compiled program has no entry computation");
    }
    seen_.insert(entry_);
    MUSTER_TRY(ReadComputation(entry->second, true));
    // A computation may be entered from several places: once is enough.
    for (std::size_t i = 0; i < entered_.size(); ++i) {
      const auto found = computations_.find(entered_[i]);
      if (found != computations_.end()) {
        MUSTER_TRY(ReadComputation(found->second, false));
      }
    }
    return Sum();
  }

 private:
  void AddComputation(std::string_view bytes) {
    for (wire::FieldReader at(bytes); at.Next();) {
      if (at.number() == field::kComputationId) {
        computations_.emplace(at.signed_value(), bytes);
      }
    }
  }

  // A result, or one part of a tuple that is one.
  struct ResultOf {
    std::int64_t id;
    std::int64_t part;
    auto operator<=>(const ResultOf&) const = default;
  };

  Status ReadComputation(std::string_view bytes, bool entry) {
    std::int64_t root = -1;
    std::map<std::int64_t, Instruction> instructions;
    for (wire::FieldReader at(bytes); at.Next();) {
      if (at.number() == field::kRootId) {
        root = at.signed_value();
      } else if (at.number() == field::kInstructions) {
        Instruction one = ReadInstruction(at.bytes());
        instructions.emplace(one.id, std::move(one));
      }
    }
    outputs_.clear();
    if (const auto found = instructions.find(root);
        entry && found != instructions.end()) {
      FindOutputs(found->second, instructions);
      MUSTER_TRY(AddOutputs(found->second));
    }
    for (const auto& [id, one] : instructions) {
      if (Enters(one.opcode)) {
        Enter(one.called);
      } else if (entry && one.opcode == "parameter") {
        MUSTER_TRY(AddArray(one, ReadShape(one.shape), {Role::kArgument, ""}));
      } else if (!IsView(one.opcode)) {
        MUSTER_TRY(AddInside(one));
      }
    }
    return Ok();
  }

  // Which results are outputs: those of the root, through its views of others.
  void FindOutputs(const Instruction& root,
                   const std::map<std::int64_t, Instruction>& instructions) {
    constexpr std::int64_t kLongestChain = 100;
    outputs_.insert({root.id, 0});
    if (root.opcode != "tuple") {
      return;
    }
    for (const std::int64_t operand : root.operands) {
      ResultOf result{operand, 0};
      for (int i = 0; i < kLongestChain; ++i) {
        const auto found = instructions.find(result.id);
        if (found == instructions.end() || !IsView(found->second.opcode) ||
            found->second.operands.empty()) {
          break;
        }
        const Instruction& view = found->second;
        result = {view.operands.front(), view.opcode == "get-tuple-element"
                                             ? view.tuple_index
                                             : result.part};
      }
      outputs_.insert(result);
    }
  }

  void Enter(const std::vector<std::int64_t>& called) {
    for (const std::int64_t id : called) {
      if (seen_.insert(id).second) {
        entered_.push_back(id);
      }
    }
  }

  Status AddOutputs(const Instruction& root) {
    const Shape shape = ReadShape(root.shape);
    if (shape.element != kTupleType) {
      return AddArray(root, shape, {Role::kOutput, "output 0"});
    }
    std::int64_t number = 0;
    for (const std::string_view part : shape.parts) {
      outputs_.insert({root.id, number});
      MUSTER_TRY(AddArray(root, ReadShape(part),
                          {Role::kOutput, "output " + std::to_string(number)}));
      ++number;
    }
    return Ok();
  }

  Status AddInside(const Instruction& one) {
    const Shape shape = ReadShape(one.shape);
    std::int64_t number = 0;
    // Compilers make no tuples of tuples here.
    for (const std::string_view part : shape.parts) {
      if (!outputs_.contains({one.id, number++})) {
        MUSTER_TRY(AddArray(one, ReadShape(part), {Role::kInside, ""}));
      }
    }
    if (shape.parts.empty() && !outputs_.contains({one.id, 0})) {
      MUSTER_TRY(AddArray(one, shape, {Role::kInside, ""}));
    }
    return Ok();
  }

  struct As {
    Role role;
    std::string name;  // empty: that of the instruction
  };

  Status AddArray(const Instruction& one, const Shape& shape, const As& as) {
    MUSTER_ASSIGN(const auto size, SizeOf(shape));
    if (!size) {
      return Ok();
    }
    const auto [at, first] = arrays_.try_emplace(
        {as.role, ShapeText(shape), size->bytes}, Array{.role = as.role});
    Array& array = at->second;
    if (!first) {
      ++array.count;
      return Ok();
    }
    array.shape = ShapeText(shape);
    array.bytes = size->bytes;
    array.padding = size->padding;
    Describe(one, as.name, array);
    return Ok();
  }

  void Describe(const Instruction& one, const std::string& name,
                Array& array) const {
    std::string_view op, file;
    std::uint64_t line = 0, frame = 0;
    for (wire::FieldReader at(one.metadata); at.Next();) {
      if (at.number() == field::kOpName) {
        op = at.bytes();
      } else if (at.number() == field::kSourceFile) {
        file = at.bytes();
      } else if (at.number() == field::kSourceLine) {
        line = at.value();
      } else if (at.number() == field::kFrameId) {
        frame = at.value();
      }
    }
    constexpr std::size_t kLongest = 200;
    // So are arguments called that have no name.
    op = op.starts_with("Arg_") ? std::string_view() : op;
    array.name = !name.empty() ? name
                 : !op.empty() ? Printable(op.substr(0, kLongest))
                 : array.role == Role::kArgument
                     ? "argument " + std::to_string(one.parameter)
                     : Printable(one.name.substr(0, kLongest));
    if (array.role == Role::kInside) {
      array.place = frame != 0 ? places_.Of(frame) : Places::Text(file, line);
    }
  }

  Holdings Sum() const {
    Holdings holdings;
    std::vector<Array> all;
    for (const auto& [key, array] : arrays_) {
      all.push_back(array);
      if (array.role != Role::kInside) {
        holdings.bytes = Plus(holdings.bytes, array.bytes, array.count);
        holdings.padding = Plus(holdings.padding, array.padding, array.count);
      }
    }
    std::stable_sort(
        all.begin(), all.end(),
        [](const Array& a, const Array& b) { return a.bytes > b.bytes; });
    std::map<Role, std::size_t> taken;
    for (Array& array : all) {
      if (taken[array.role]++ < kMaxOfARole) {
        holdings.largest.push_back(std::move(array));
      }
    }
    return holdings;
  }

  struct Key {
    Role role;
    std::string shape;
    std::int64_t bytes;
    auto operator<=>(const Key&) const = default;
  };

  std::int64_t entry_ = -1;
  std::map<std::int64_t, std::string_view> computations_;
  Places places_{""};
  std::set<std::int64_t> seen_;
  std::vector<std::int64_t> entered_;
  std::set<ResultOf> outputs_;  // of the computation that is being read
  std::map<Key, Array> arrays_;
};

}  // namespace

std::string_view ToString(Role role) {
  switch (role) {
    case Role::kArgument:
      return "argument";
    case Role::kOutput:
      return "output";
    case Role::kInside:
      return "inside";
  }
  return "?";
}

Result<Holdings> ReadHoldings(std::string_view hlo) {
  std::string_view module;
  for (wire::FieldReader at(hlo); at.Next();) {
    if (at.number() == field::kModule && at.has_bytes()) {
      module = at.bytes();
    }
  }
  return Reader(module).Read();
}

}  // namespace muster::pjrt
