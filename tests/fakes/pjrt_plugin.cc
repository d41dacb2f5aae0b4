// SPDX-License-Identifier: Apache-2.0
// A PJRT plug-in that misbehaves as MUSTER_FAKE_PJRT says, and compiles
// everything when it says nothing:
//
//   hang      never returns from PJRT_Plugin_Initialize
//   abort     ends its process while it compiles
//   version   speaks PJRT 1.0
//   table     its table of functions ends before PJRT_Compile
//   grown     wants 8 bytes more of PJRT_Compile's arguments than muster knows
//   escapes   refuses with control characters and 1 MiB of text
//   oom       refuses as libtpu does when a program does not fit
//   null      has no table at all
//   variables refuses with the variables that the child was given
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>

#include "pjrt/abi.h"

namespace abi = muster::pjrt::abi;

struct abi::PluginError {
  Code code;
  std::string text;
};

namespace {

constexpr std::size_t kSlots = 97;

struct Table {
  abi::Api head;
  std::array<abi::Function, kSlots - 1> more;
};

bool Is(std::string_view behaviour) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): its process has one thread.
  const char* told = getenv("MUSTER_FAKE_PJRT");
  return told != nullptr && told == behaviour;
}

abi::PluginError* Refuse(abi::Code code, std::string text) {
  return new abi::PluginError{code, std::move(text)};
}

template <typename Args>
Args* ArgsOf(abi::PluginError* (*)(Args*));

// The table's functions are of one type, as the caller's are.
template <auto kFunction>
void Set(Table& table) {
  using Args = std::remove_pointer_t<decltype(ArgsOf(kFunction))>;
  const abi::Function plain = [](void* args) {
    return kFunction(static_cast<Args*>(args));
  };
  if (Args::kSlot == 0) {
    table.head.functions[0] = plain;
  } else {
    table.more[Args::kSlot - 1] = plain;
  }
}

abi::PluginError* Destroy(abi::ErrorDestroyArgs* args) {
  delete args->error;
  return nullptr;
}

abi::PluginError* Message(abi::ErrorMessageArgs* args) {
  args->message = args->error->text.data();
  args->message_size = args->error->text.size();
  return nullptr;
}

abi::PluginError* GetCode(abi::ErrorGetCodeArgs* args) {
  args->code = args->error->code;
  return nullptr;
}

abi::PluginError* Initialize(abi::PluginInitializeArgs*) {
  while (Is("hang")) {
    pause();
  }
  return nullptr;
}

abi::PluginError* Attributes(abi::PluginAttributesArgs* args) {
  static const std::array<std::int64_t, 3> version{1, 2, 3};
  static abi::NamedValue value;
  constexpr std::string_view kName = "stablehlo_current_version";
  value.name = kName.data();
  value.name_size = kName.size();
  value.type = abi::ValueType::kInt64List;
  value.int64_array_value = version.data();
  value.value_size = version.size();
  args->attributes = &value;
  args->num_attributes = 1;
  return nullptr;
}

abi::PluginError* MakeTopology(abi::TopologyCreateArgs* args) {
  static char topology;
  args->topology = reinterpret_cast<abi::Topology*>(&topology);
  return nullptr;
}

abi::PluginError* DestroyTopology(abi::TopologyDestroyArgs*) {
  return nullptr;
}

abi::PluginError* Devices(abi::TopologyGetDeviceDescriptionsArgs* args) {
  static char device;
  static std::array<abi::DeviceDescription*, 4> devices;
  devices.fill(reinterpret_cast<abi::DeviceDescription*>(&device));
  args->descriptions = devices.data();
  args->num_descriptions = devices.size();
  return nullptr;
}

abi::PluginError* DeviceKind(abi::DeviceDescriptionKindArgs* args) {
  constexpr std::string_view kKind = "fake";
  args->device_kind = kKind.data();
  args->device_kind_size = kKind.size();
  return nullptr;
}

abi::PluginError* DeviceAttributes(abi::DeviceDescriptionAttributesArgs* args) {
  static abi::NamedValue value;
  constexpr std::string_view kName = "device_memory_bytes_limit";
  value.name = kName.data();
  value.name_size = kName.size();
  value.type = abi::ValueType::kInt64;
  value.int64_value = 1 << 20;
  value.value_size = 1;
  args->attributes = &value;
  args->num_attributes = 1;
  return nullptr;
}

std::string Variables() {
  std::string text;
  for (const char* name :
       {"TPU_SKIP_MDS_QUERY", "ALLOW_MULTIPLE_LIBTPU_LOAD"}) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): its process has one thread.
    const char* value = getenv(name);
    text += std::string(name) + "=" + (value == nullptr ? "" : value) + " ";
  }
  return text;
}

abi::PluginError* Compile(abi::CompileArgs* args) {
  if (Is("abort")) {
    abort();
  }
  if (Is("grown") && args->struct_size < abi::CompileArgs::kSize + 8) {
    return Refuse(abi::Code::kInvalidArgument,
                  "Unexpected PJRT_Compile_Args size: expected 72, got 64. The "
                  "plugin is likely built with a later version than the "
                  "framework.");
  }
  if (Is("escapes")) {
    return Refuse(abi::Code::kInvalidArgument,
                  "\033[2Jgone \xff" + std::string(1 << 20, 'x'));
  }
  if (Is("oom")) {
    return Refuse(abi::Code::kResourceExhausted,
                  "E1000: CompileTimeHbmOom: Ran out of memory on HBM, the "
                  "total memory required for HLO temporaries (29.85G) exceeds "
                  "available HBM (15.75G). HLO module: m.");
  }
  if (Is("variables")) {
    return Refuse(abi::Code::kInternal, Variables());
  }
  static char executable;
  args->executable = reinterpret_cast<abi::Executable*>(&executable);
  return nullptr;
}

abi::PluginError* DestroyExecutable(abi::ExecutableDestroyArgs*) {
  return nullptr;
}

abi::PluginError* Replicas(abi::ExecutableNumReplicasArgs* args) {
  args->num_replicas = 1;
  return nullptr;
}

abi::PluginError* Partitions(abi::ExecutableNumPartitionsArgs* args) {
  args->num_partitions = 4;
  return nullptr;
}

abi::PluginError* MemoryStats(abi::ExecutableGetCompiledMemoryStatsArgs* args) {
  args->argument_size_in_bytes = 100;
  args->output_size_in_bytes = 20;
  args->temp_size_in_bytes = 3;
  args->peak_memory_in_bytes = 123;
  return nullptr;
}

abi::PluginError* Cost(abi::ExecutableGetCostAnalysisArgs* args) {
  static std::array<abi::NamedValue, 2> values;
  constexpr std::string_view kFlops = "flops", kSeconds = "bytes accessed";
  values[0].name = kFlops.data();
  values[0].name_size = kFlops.size();
  values[0].type = abi::ValueType::kFloat;
  values[0].float_value = 24;
  values[1].name = kSeconds.data();
  values[1].name_size = kSeconds.size();
  values[1].type = abi::ValueType::kFloat;
  values[1].float_value = -3;  // as libtpu says that it does not know
  args->properties = values.data();
  args->num_properties = values.size();
  return nullptr;
}

Table MakeTable() {
  Table table{};
  table.head.struct_size =
      Is("table") ? abi::kFirstFunction + 50 * sizeof(abi::Function)
                  : abi::kFirstFunction + kSlots * sizeof(abi::Function);
  table.head.version = {24, nullptr, Is("version") ? 1 : 0, 81};
  Set<Destroy>(table);
  Set<Message>(table);
  Set<GetCode>(table);
  Set<Initialize>(table);
  Set<Attributes>(table);
  Set<MakeTopology>(table);
  Set<DestroyTopology>(table);
  Set<Devices>(table);
  Set<DeviceKind>(table);
  Set<DeviceAttributes>(table);
  Set<Compile>(table);
  Set<DestroyExecutable>(table);
  Set<Replicas>(table);
  Set<Partitions>(table);
  Set<MemoryStats>(table);
  Set<Cost>(table);
  return table;
}

}  // namespace

extern "C" const abi::Api* GetPjrtApi();
extern "C" const abi::Api* GetPjrtApi() {
  static const Table table = MakeTable();
  return Is("null") ? nullptr : &table.head;
}
