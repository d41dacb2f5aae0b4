// SPDX-License-Identifier: Apache-2.0
#include "pjrt/program/module.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <set>

#include "base/text.h"

namespace muster::pjrt {
namespace {

constexpr std::string_view kBytecodeMagic = "ML\xEFR";

bool Has(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

// The number of "NAME = 8 : i32" in the text of a module.
std::optional<int> Attribute(std::string_view text, std::string_view name) {
  const auto at = text.find(name);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  auto rest = Trim(text.substr(at + name.size(), 40));
  if (!rest.starts_with('=')) {
    return std::nullopt;
  }
  rest = Trim(rest.substr(1));
  const auto number =
      ParseInt(rest.substr(0, rest.find_first_not_of("0123456789")));
  return number && *number > 0 && *number < 1'000'000
             ? std::optional(static_cast<int>(*number))
             : std::nullopt;
}

// Little-endian numbers at a place of the bytes; nullopt: beyond them.
template <typename Number>
std::optional<Number> At(std::string_view bytes, std::size_t place) {
  if (place > bytes.size() || bytes.size() - place < sizeof(Number)) {
    return std::nullopt;
  }
  Number number{};
  std::memcpy(&number, bytes.data() + place, sizeof number);
  return number;
}

// A table of a FlatBuffer, read without trust.
class Table {
 public:
  static std::optional<Table> Root(std::string_view bytes) {
    const auto root = At<std::uint32_t>(bytes, 0);
    return root ? In(bytes, *root) : std::nullopt;
  }

  static std::optional<Table> In(std::string_view bytes, std::size_t place) {
    const auto back = At<std::int32_t>(bytes, place);
    const std::int64_t entries =
        back ? static_cast<std::int64_t>(place) - *back : std::int64_t{-1};
    if (entries < 0 || entries > static_cast<std::int64_t>(bytes.size())) {
      return std::nullopt;
    }
    return Table(bytes, place, static_cast<std::size_t>(entries));
  }

  // Where a field lies; nullopt: absent.
  std::optional<std::size_t> Field(std::size_t number) const {
    const auto size = At<std::uint16_t>(bytes_, entries_);
    const std::size_t entry = 4 + 2 * number;
    if (!size || entry + 2 > *size) {
      return std::nullopt;
    }
    const auto offset = At<std::uint16_t>(bytes_, entries_ + entry);
    return offset && *offset != 0 ? std::optional(root_ + *offset)
                                  : std::nullopt;
  }

  std::optional<std::string_view> Bytes(std::size_t number) const {
    const auto field = Field(number);
    return field ? BytesAt(*field) : std::nullopt;
  }

  // Where the elements of a vector of tables or strings lie; those after
  // kMaxElements are left out.
  std::vector<std::size_t> Elements(std::size_t number) const {
    constexpr std::uint32_t kMaxElements = 100'000;
    std::vector<std::size_t> places;
    const auto field = Field(number);
    const auto vector = field ? Follow(*field) : std::nullopt;
    const auto size =
        vector ? At<std::uint32_t>(bytes_, *vector) : std::nullopt;
    for (std::uint32_t i = 0; size && i < std::min(*size, kMaxElements); ++i) {
      const std::size_t place = *vector + (i + std::size_t{1}) * 4;
      if (!At<std::uint32_t>(bytes_, place)) {
        break;
      }
      places.push_back(place);
    }
    return places;
  }

  // The string or the table that is pointed to from here.
  std::optional<std::string_view> BytesAt(std::size_t place) const {
    const auto begin = Follow(place);
    const auto size = begin ? At<std::uint32_t>(bytes_, *begin) : std::nullopt;
    if (!size || bytes_.size() - *begin - sizeof *size < *size) {
      return std::nullopt;
    }
    return bytes_.substr(*begin + sizeof *size, *size);
  }
  std::optional<Table> TableAt(std::size_t place) const {
    const auto begin = Follow(place);
    return begin ? In(bytes_, *begin) : std::nullopt;
  }

 private:
  std::optional<std::size_t> Follow(std::size_t place) const {
    const auto offset = At<std::uint32_t>(bytes_, place);
    return offset ? std::optional(place + *offset) : std::nullopt;
  }

  Table(std::string_view bytes, std::size_t root, std::size_t entries)
      : bytes_(bytes), root_(root), entries_(entries) {}

  std::string_view bytes_;
  std::size_t root_;
  std::size_t entries_;
};

// Numbers of fields in jax.export's schema.
constexpr std::size_t kArgumentsField = 3;
constexpr std::size_t kDevicesField = 6;
constexpr std::size_t kModuleField = 13;
constexpr std::size_t kShapeField = 1;  // of an argument

// Together they bound what a file can make us keep.
constexpr std::size_t kMaxSides = 100'000;
constexpr std::size_t kLongestSide = 100;
constexpr std::size_t kMaxTypeBytes = 1000;

using Sides = std::vector<std::string>;

std::vector<Sides> ArgumentsOf(const Table& table) {
  std::vector<Sides> arguments;
  std::size_t count = 0;
  for (const std::size_t place : table.Elements(kArgumentsField)) {
    Sides& sides = arguments.emplace_back();
    const auto argument = table.TableAt(place);
    for (const std::size_t side : argument ? argument->Elements(kShapeField)
                                           : std::vector<std::size_t>()) {
      const auto text = argument->BytesAt(side);
      if (++count > kMaxSides || !text || text->size() > kLongestSide) {
        return {};
      }
      sides.emplace_back(*text);
    }
  }
  return arguments;
}

// "8x784xf32" between the brackets of a type.
Sides SidesOf(std::string_view type) {
  Sides sides;
  for (auto at = type.find('x'); at != std::string_view::npos;
       at = type.find('x')) {
    const auto side = type.substr(0, at);
    if (side != "?" && !IsDigits(side)) {
      break;
    }
    sides.emplace_back(side);
    type.remove_prefix(at + 1);
  }
  return sides;
}

// What @main of a text takes: each type that stands behind a colon in its
// brackets, outside of strings and of attributes.
std::vector<Sides> ArgumentsOf(std::string_view text) {
  constexpr std::string_view kMain = "@main(", kType = ": tensor<";
  std::vector<Sides> arguments;
  const auto main = text.find(kMain);
  int depth = main == std::string_view::npos ? 0 : 1;
  bool quoted = false;
  for (std::size_t at = main + kMain.size(); depth > 0 && at < text.size();
       ++at) {
    const char c = text[at];
    if (quoted) {
      at += c == '\\' ? 1 : 0;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '(' || c == '{' || c == '[') {
      ++depth;
    } else if (c == ')' || c == '}' || c == ']') {
      --depth;
    } else if (depth == 1 && text.substr(at).starts_with(kType)) {
      const auto begin = at + kType.size();
      const auto type = text.substr(begin, kMaxTypeBytes);
      arguments.push_back(SidesOf(type.substr(0, type.find_first_of(">,"))));
      if (arguments.size() > kMaxSides) {
        return {};
      }
    }
  }
  return depth == 0 ? arguments : std::vector<Sides>();
}

std::optional<Module> ReadJaxExport(std::string_view bytes) {
  const auto table = Table::Root(bytes);
  const auto code = table ? table->Bytes(kModuleField) : std::nullopt;
  if (!code || !code->starts_with(kBytecodeMagic)) {
    return std::nullopt;
  }
  Module module{.container = Container::kJaxExport, .code = std::string(*code)};
  const auto field = table->Field(kDevicesField);
  const auto devices =
      field ? At<std::uint16_t>(bytes, *field) : std::optional<std::uint16_t>();
  module.replicas = 1;
  module.partitions = devices && *devices > 0 ? int{*devices} : 1;
  module.arguments = ArgumentsOf(*table);
  return module;
}

// What a file that no reader took most likely is.
Error NotRead(std::string_view bytes) {
  if (bytes.starts_with("PK\x03\x04")) {
    return Error(Cause::kUsageInvalid,
                 "it is a zip archive; export the step with jax.export, or "
                 "write `lowered.as_text()`");
  }
  if (bytes.starts_with("HloModule")) {
    return Error(Cause::kUsageInvalid,
                 "it is HLO text, which is not supported; use StableHLO");
  }
  if (Has(bytes, "saved_model_schema_version") || Has(bytes, "VarHandleOp") ||
      Has(bytes, "StatefulPartitionedCall")) {
    return Error(Cause::kUsageInvalid,
                 "it is a TensorFlow graph, not StableHLO");
  }
  if (Has(bytes, kBytecodeMagic)) {
    return Error(
        Cause::kFileCorrupt,
        "it contains MLIR bytecode in a truncated or unknown container");
  }
  return Error(Cause::kFileCorrupt,
               "it is not StableHLO: neither module text, nor bytecode "
               "(`MLïR`), nor a jax.export artifact");
}

bool LooksLikeText(std::string_view bytes) {
  return !Has(bytes, std::string_view("\0", 1)) &&
         (Has(bytes, "module") || Has(bytes, "func.func")) &&
         !bytes.starts_with("HloModule");
}

}  // namespace

std::string_view ToString(Container container) {
  switch (container) {
    case Container::kText:
      return "StableHLO text";
    case Container::kBytecode:
      return "StableHLO bytecode";
    case Container::kJaxExport:
      return "jax.export artifact";
  }
  return "?";
}

Result<Module> ReadModule(std::string bytes) {
  if (Trim(bytes).empty()) {
    return Error(Cause::kFileCorrupt, "it is empty");
  }
  Module module;
  if (bytes.starts_with(kBytecodeMagic)) {
    module.container = Container::kBytecode;
    module.code = std::move(bytes);
  } else if (auto exported = ReadJaxExport(bytes)) {
    module = *std::move(exported);
  } else if (LooksLikeText(bytes)) {
    module.replicas = Attribute(bytes, "mhlo.num_replicas");
    module.partitions = Attribute(bytes, "mhlo.num_partitions");
    module.arguments = ArgumentsOf(std::string_view(bytes));
    module.code = std::move(bytes);
  } else {
    return NotRead(bytes);
  }
  module.shardy =
      Has(module.code, module.container == Container::kText ? "sdy." : "sdy");
  module.sharded = module.shardy || Has(module.code, "mhlo.sharding");
  return module;
}

std::vector<std::string> SymbolsOf(const Module& module) {
  // What expressions of sides are written with beside symbols.
  static constexpr std::array<std::string_view, 4> kFunctions{"floordiv", "mod",
                                                              "max", "min"};
  constexpr std::size_t kMaxSymbols = 10;
  const auto is_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (c >= '0' && c <= '9');
  };
  std::set<std::string> symbols;
  for (const auto& sides : module.arguments) {
    for (const std::string& side : sides) {
      for (std::size_t at = 0; at < side.size(); ++at) {
        std::size_t end = at;
        while (end < side.size() && is_name(side[end])) {
          ++end;
        }
        const std::string name = side.substr(at, end - at);
        if (!name.empty() && !IsDigits(name) && symbols.size() < kMaxSymbols &&
            std::find(kFunctions.begin(), kFunctions.end(), name) ==
                kFunctions.end()) {
          symbols.insert(name);
        }
        at = end;
      }
    }
  }
  return {symbols.begin(), symbols.end()};
}

}  // namespace muster::pjrt
