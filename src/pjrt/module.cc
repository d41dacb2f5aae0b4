// SPDX-License-Identifier: Apache-2.0
#include "pjrt/module.h"

#include <cstdint>
#include <cstring>

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

// The root table of a FlatBuffer, read without trust.
class Table {
 public:
  static std::optional<Table> Root(std::string_view bytes) {
    const auto root = At<std::uint32_t>(bytes, 0);
    const auto back =
        root ? At<std::int32_t>(bytes, *root) : std::optional<std::int32_t>();
    const std::int64_t entries =
        back ? std::int64_t{*root} - *back : std::int64_t{-1};
    if (entries < 0 || entries > static_cast<std::int64_t>(bytes.size())) {
      return std::nullopt;
    }
    return Table(bytes, *root, static_cast<std::size_t>(entries));
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
    const auto offset =
        field ? At<std::uint32_t>(bytes_, *field) : std::nullopt;
    const auto size =
        offset ? At<std::uint32_t>(bytes_, *field + *offset) : std::nullopt;
    if (!size) {
      return std::nullopt;
    }
    const std::size_t begin = *field + *offset + sizeof(std::uint32_t);
    if (begin > bytes_.size() || bytes_.size() - begin < *size) {
      return std::nullopt;
    }
    return bytes_.substr(begin, *size);
  }

 private:
  Table(std::string_view bytes, std::size_t root, std::size_t entries)
      : bytes_(bytes), root_(root), entries_(entries) {}

  std::string_view bytes_;
  std::size_t root_;
  std::size_t entries_;
};

// Numbers of fields in jax.export's schema.
constexpr std::size_t kDevicesField = 6;
constexpr std::size_t kModuleField = 13;

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
                 "it is HLO text, which is not read; StableHLO is");
  }
  if (Has(bytes, "saved_model_schema_version") || Has(bytes, "VarHandleOp") ||
      Has(bytes, "StatefulPartitionedCall")) {
    return Error(Cause::kUsageInvalid,
                 "it is a graph of TensorFlow, and not StableHLO");
  }
  if (Has(bytes, kBytecodeMagic)) {
    return Error(Cause::kFileCorrupt,
                 "it holds bytecode of MLIR in a container that is cut short "
                 "or not known");
  }
  return Error(Cause::kFileCorrupt,
               "it is no StableHLO: neither text of a module, nor bytecode "
               "(`MLïR`), nor an artefact of jax.export");
}

bool LooksLikeText(std::string_view bytes) {
  return !Has(bytes, std::string_view("\0", 1)) &&
         (Has(bytes, "module") || Has(bytes, "func.func")) &&
         !bytes.starts_with("HloModule");
}

}  // namespace

std::string_view WordOf(Container container) {
  switch (container) {
    case Container::kText:
      return "StableHLO text";
    case Container::kBytecode:
      return "StableHLO bytecode";
    case Container::kJaxExport:
      return "artefact of jax.export";
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
    module.code = std::move(bytes);
  } else {
    return NotRead(bytes);
  }
  module.shardy =
      Has(module.code, module.container == Container::kText ? "sdy." : "sdy");
  module.sharded = module.shardy || Has(module.code, "mhlo.sharding");
  return module;
}

}  // namespace muster::pjrt
