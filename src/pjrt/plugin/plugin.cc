// SPDX-License-Identifier: Apache-2.0
#include "pjrt/plugin/plugin.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "pjrt/plugin/fault.h"

namespace muster::pjrt {
namespace {

// Lists longer than this are no attributes.
constexpr std::size_t kMaxValues = 10'000;

std::string_view View(const char* text, std::size_t size) {
  return text == nullptr ? std::string_view() : std::string_view(text, size);
}

std::optional<Value> ReadValue(const pjrt::abi::NamedValue& value) {
  switch (value.type) {
    case pjrt::abi::ValueType::kString:
      return Value(std::string(
          View(value.string_value, std::min(value.value_size, kTextLimit))));
    case pjrt::abi::ValueType::kInt64:
      return Value(value.int64_value);
    case pjrt::abi::ValueType::kInt64List: {
      const std::int64_t* list = value.int64_array_value;
      return Value(std::vector<std::int64_t>(
          list, list + std::min(value.value_size, kMaxValues)));
    }
    case pjrt::abi::ValueType::kFloat:
      return Value(value.float_value);
    case pjrt::abi::ValueType::kBool:
      return Value(value.bool_value);
  }
  return std::nullopt;
}

// Values of types that are not known are left out.
Values ReadValues(const pjrt::abi::NamedValue* values, std::size_t count) {
  Values read;
  for (std::size_t i = 0; values != nullptr && i < std::min(count, kMaxValues);
       ++i) {
    if (auto value = ReadValue(values[i])) {
      read.emplace(View(values[i].name,
                        std::min(values[i].name_size, std::size_t{1000})),
                   *std::move(value));
    }
  }
  return read;
}

Status CheckVersion(const std::string& path, const pjrt::abi::Api* api) {
  if (api == nullptr || api->struct_size < pjrt::abi::kFirstFunction) {
    return Error(Cause::kVerPluginMismatch,
                 "`" + Printable(path) + "` returns no PJRT API");
  }
  const pjrt::abi::Version& version = api->version;
  if (version.major != pjrt::abi::kMajor ||
      version.minor < pjrt::abi::kOldestMinor) {
    return Error(Cause::kVerPluginMismatch,
                 "`" + Printable(path) + "` implements PJRT " +
                     std::to_string(version.major) + "." +
                     std::to_string(version.minor) +
                     ", but muster supports 0." +
                     std::to_string(pjrt::abi::kOldestMinor) +
                     " and later 0.x versions");
  }
  return Ok();
}

// The N of "Unexpected X size: expected N, got M".
std::optional<std::size_t> WantedSize(std::string_view text) {
  constexpr std::string_view kWords = "size: expected ";
  const auto at = text.find(kWords);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto rest = text.substr(at + kWords.size());
  const auto size = ParseInt(rest.substr(0, rest.find(',')));
  return size && *size > 0 ? std::optional(static_cast<std::size_t>(*size))
                           : std::nullopt;
}

}  // namespace

pjrt::abi::Program ToProgram(std::string_view code) {
  constexpr std::string_view kFormat = "mlir";
  pjrt::abi::Program program;
  program.code = code.data();
  program.code_size = code.size();
  program.format = kFormat.data();
  program.format_size = kFormat.size();
  return program;
}

Result<Plugin> Plugin::Load(const std::string& path) {
  MUSTER_ASSIGN(const sys::Library library, sys::Library::Open(path));
  MUSTER_ASSIGN(void* const entry, library.Symbol("GetPjrtApi"));
  using GetApi = const pjrt::abi::Api* (*)();
  const pjrt::abi::Api* const api = reinterpret_cast<GetApi>(entry)();
  MUSTER_TRY(CheckVersion(path, api));
  Plugin plugin(api);
  pjrt::abi::PluginInitializeArgs args;
  MUSTER_TRY(plugin.Call(args));
  return plugin;
}

Result<Plugin::Found> Plugin::Find(Entry entry) const {
  const std::size_t end = pjrt::abi::kFirstFunction +
                          (entry.slot + 1) * sizeof(pjrt::abi::Function);
  pjrt::abi::Function function = nullptr;
  if (api_->struct_size >= end) {
    std::memcpy(
        &function,
        reinterpret_cast<const std::byte*>(api_) + end - sizeof function,
        sizeof function);
  }
  if (function == nullptr) {
    return Error(Cause::kVerPluginMismatch,
                 "the plug-in, of PJRT 0." +
                     std::to_string(api_->version.minor) + ", has no " +
                     std::string(entry.name));
  }
  return Found{function};
}

Error Plugin::Take(std::string_view call, abi::PluginError* error) const {
  Fault fault{.call = std::string(call)};
  const auto ask = [&](auto& args) {
    args.error = error;
    const auto function = Find({args.kName, args.kSlot});
    if (function) {
      function->call(&args);
    }
  };
  // Slots 0 and 1 return nothing.
  pjrt::abi::ErrorMessageArgs message;
  ask(message);
  fault.text =
      View(message.message, std::min(message.message_size, kTextLimit));
  pjrt::abi::ErrorGetCodeArgs code;
  ask(code);
  fault.code = code.code;
  pjrt::abi::ErrorDestroyArgs destroy;
  ask(destroy);
  return ToError(fault);
}

Status Plugin::CallSlot(Entry entry, void* args, std::size_t room) const {
  MUSTER_ASSIGN(const Found function, Find(entry));
  abi::PluginError* error = function.call(args);
  if (error == nullptr) {
    return Ok();
  }
  Error first = Take(entry.name, error);
  const auto size = WantedSize(first.message());
  if (!size || *size > room) {
    return first;
  }
  // Every struct of arguments begins with its size.
  std::memcpy(args, &*size, sizeof *size);
  error = function.call(args);
  if (error != nullptr) {
    return Take(entry.name, error);
  }
  return Ok();
}

Result<Values> Plugin::Attributes() const {
  pjrt::abi::PluginAttributesArgs args;
  MUSTER_TRY(Call(args));
  return ReadValues(args.attributes, args.num_attributes);
}

Result<Topology> Plugin::MakeTopology(std::string_view name) const {
  pjrt::abi::TopologyCreateArgs args;
  args.topology_name = name.data();
  args.topology_name_size = name.size();
  MUSTER_TRY(Call(args));
  return Topology(*this, OwnedTopology(*this, args.topology));
}

Result<std::vector<Topology::Device>> Topology::Devices() const {
  pjrt::abi::TopologyGetDeviceDescriptionsArgs all;
  all.topology = object_.get();
  MUSTER_TRY(plugin_->Call(all));
  std::vector<Device> devices;
  for (std::size_t i = 0; i < all.num_descriptions; ++i) {
    pjrt::abi::DeviceDescriptionKindArgs kind;
    kind.device_description = all.descriptions[i];
    MUSTER_TRY(plugin_->Call(kind));
    pjrt::abi::DeviceDescriptionAttributesArgs attributes;
    attributes.device_description = all.descriptions[i];
    MUSTER_TRY(plugin_->Call(attributes));
    devices.push_back(
        {std::string(View(kind.device_kind, kind.device_kind_size)),
         ReadValues(attributes.attributes, attributes.num_attributes)});
  }
  return devices;
}

Result<Executable> Topology::Compile(std::string_view program,
                                     std::string_view options) const {
  const pjrt::abi::Program code = ToProgram(program);
  pjrt::abi::CompileArgs args;
  args.topology = object_.get();
  args.program = &code;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  MUSTER_TRY(plugin_->Call(args));
  return Executable(*plugin_, OwnedExecutable(*plugin_, args.executable));
}

Result<std::size_t> Executable::Replicas() const {
  pjrt::abi::ExecutableNumReplicasArgs args;
  args.executable = object_.get();
  MUSTER_TRY(plugin_->Call(args));
  return args.num_replicas;
}

Result<std::size_t> Executable::Partitions() const {
  pjrt::abi::ExecutableNumPartitionsArgs args;
  args.executable = object_.get();
  MUSTER_TRY(plugin_->Call(args));
  return args.num_partitions;
}

Result<Memory> Executable::MemoryOfADevice() const {
  pjrt::abi::ExecutableGetCompiledMemoryStatsArgs args;
  args.executable = object_.get();
  MUSTER_TRY(plugin_->Call(args));
  Memory memory{.code = args.generated_code_size_in_bytes,
                .arguments = args.argument_size_in_bytes,
                .outputs = args.output_size_in_bytes,
                .alias = args.alias_size_in_bytes,
                .temporaries = args.temp_size_in_bytes};
  if (plugin_->version().minor >= pjrt::abi::kPeakMemoryMinor) {
    memory.peak = args.peak_memory_in_bytes;
  }
  return memory;
}

Result<Values> Executable::Cost() const {
  pjrt::abi::ExecutableGetCostAnalysisArgs args;
  args.executable = object_.get();
  MUSTER_TRY(plugin_->Call(args));
  return ReadValues(args.properties, args.num_properties);
}

Result<std::string> Executable::OptimizedProgram() const {
  constexpr std::string_view kFormat = "hlo_with_config";
  constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
  pjrt::abi::Program program;
  program.format = kFormat.data();
  program.format_size = kFormat.size();
  pjrt::abi::ExecutableOptimizedProgramArgs args;
  args.executable = object_.get();
  args.program = &program;
  MUSTER_TRY(plugin_->Call(args));
  if (View(program.format, program.format_size) != kFormat ||
      program.code_size > kMaxBytes) {
    return Error(
        Cause::kVerPluginMismatch,
        "the plug-in returns its compiled program in an unsupported format");
  }
  std::string code(program.code_size, '\0');
  program.code = code.data();
  MUSTER_TRY(plugin_->Call(args));
  return code;
}

}  // namespace muster::pjrt
