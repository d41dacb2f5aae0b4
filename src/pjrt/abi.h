// SPDX-License-Identifier: Apache-2.0
// The PJRT C ABI, as far as it is called here: our own declarations of a public
// binary interface, newest layout known (API 0.114). abi_test.cc compares every
// size, offset and number with the real header where there is one.
//
// Each struct of arguments names its place in the plug-in's table (kSlot) and
// its size as the interface counts it: to the end of the last field, without
// padding (kSize). Fields after the comment `out` are written by the plug-in;
// what they point to is the plug-in's and lives as long as its parent object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster::pjrt::abi {

// Objects of the plug-in.
struct PluginError;
struct Topology;
struct Executable;
struct DeviceDescription;
struct Client;

struct Extension {
  std::size_t struct_size;
  std::int32_t type;
  Extension* next;
};

struct Version {
  std::size_t struct_size;
  Extension* extension_start;
  std::int32_t major;
  std::int32_t minor;
};

using Function = PluginError* (*)(void* args);

// What GetPjrtApi returns; functions follow one another to struct_size.
struct Api {
  std::size_t struct_size;
  Extension* extension_start;
  Version version;
  Function functions[1];
};
constexpr std::size_t kFirstFunction = 40;

constexpr std::int32_t kMajor = 0;
constexpr std::int32_t kOldestMinor = 40;  // GetCompiledMemoryStats
constexpr std::int32_t kPeakMemoryMinor = 72;

enum class Code : std::int32_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

enum class ValueType : std::int32_t {
  kString = 0,
  kInt64 = 1,
  kInt64List = 2,
  kFloat = 3,
  kBool = 4,
};

struct NamedValue {
  static constexpr std::size_t kSize = 56;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  const char* name = nullptr;
  std::size_t name_size = 0;
  ValueType type = ValueType::kString;
  union {
    const char* string_value = nullptr;
    std::int64_t int64_value;
    const std::int64_t* int64_array_value;
    float float_value;
    bool bool_value;
  };
  std::size_t value_size = 0;  // elements; 1 for a scalar
};

struct Program {
  static constexpr std::size_t kSize = 48;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  const char* code = nullptr;
  std::size_t code_size = 0;
  const char* format = nullptr;
  std::size_t format_size = 0;
};

struct ErrorDestroyArgs {
  static constexpr std::string_view kName = "PJRT_Error_Destroy";
  static constexpr std::size_t kSlot = 0, kSize = 24;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  PluginError* error = nullptr;
};

struct ErrorMessageArgs {
  static constexpr std::string_view kName = "PJRT_Error_Message";
  static constexpr std::size_t kSlot = 1, kSize = 40;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  const PluginError* error = nullptr;
  const char* message = nullptr;  // out
  std::size_t message_size = 0;
};

struct ErrorGetCodeArgs {
  static constexpr std::string_view kName = "PJRT_Error_GetCode";
  static constexpr std::size_t kSlot = 2, kSize = 28;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  const PluginError* error = nullptr;
  Code code = Code::kOk;  // out
};

struct PluginInitializeArgs {
  static constexpr std::string_view kName = "PJRT_Plugin_Initialize";
  static constexpr std::size_t kSlot = 3, kSize = 16;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
};

struct PluginAttributesArgs {
  static constexpr std::string_view kName = "PJRT_Plugin_Attributes";
  static constexpr std::size_t kSlot = 4, kSize = 32;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  const NamedValue* attributes = nullptr;  // out
  std::size_t num_attributes = 0;
};

// The number comes before the list, unlike everywhere else.
struct DeviceDescriptionAttributesArgs {
  static constexpr std::string_view kName = "PJRT_DeviceDescription_Attributes";
  static constexpr std::size_t kSlot = 25, kSize = 40;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  DeviceDescription* device_description = nullptr;
  std::size_t num_attributes = 0;  // out
  const NamedValue* attributes = nullptr;
};

struct DeviceDescriptionKindArgs {
  static constexpr std::string_view kName = "PJRT_DeviceDescription_Kind";
  static constexpr std::size_t kSlot = 26, kSize = 40;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  DeviceDescription* device_description = nullptr;
  const char* device_kind = nullptr;  // out
  std::size_t device_kind_size = 0;
};

struct ExecutableDestroyArgs {
  static constexpr std::string_view kName = "PJRT_Executable_Destroy";
  static constexpr std::size_t kSlot = 40, kSize = 24;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  Executable* executable = nullptr;
};

struct ExecutableNumReplicasArgs {
  static constexpr std::string_view kName = "PJRT_Executable_NumReplicas";
  static constexpr std::size_t kSlot = 42, kSize = 32;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  Executable* executable = nullptr;
  std::size_t num_replicas = 0;  // out
};

struct ExecutableNumPartitionsArgs {
  static constexpr std::string_view kName = "PJRT_Executable_NumPartitions";
  static constexpr std::size_t kSlot = 43, kSize = 32;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  Executable* executable = nullptr;
  std::size_t num_partitions = 0;  // out
};

struct ExecutableGetCostAnalysisArgs {
  static constexpr std::string_view kName = "PJRT_Executable_GetCostAnalysis";
  static constexpr std::size_t kSlot = 46, kSize = 40;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  Executable* executable = nullptr;
  std::size_t num_properties = 0;  // out
  const NamedValue* properties = nullptr;
};

struct TopologyCreateArgs {
  static constexpr std::string_view kName = "PJRT_TopologyDescription_Create";
  static constexpr std::size_t kSlot = 82, kSize = 56;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  const char* topology_name = nullptr;
  std::size_t topology_name_size = 0;
  const NamedValue* create_options = nullptr;
  std::size_t num_options = 0;
  Topology* topology = nullptr;  // out
};

struct TopologyDestroyArgs {
  static constexpr std::string_view kName = "PJRT_TopologyDescription_Destroy";
  static constexpr std::size_t kSlot = 83, kSize = 24;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  Topology* topology = nullptr;
};

struct TopologyGetDeviceDescriptionsArgs {
  static constexpr std::string_view kName =
      "PJRT_TopologyDescription_GetDeviceDescriptions";
  static constexpr std::size_t kSlot = 86, kSize = 40;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  const Topology* topology = nullptr;
  DeviceDescription* const* descriptions = nullptr;  // out
  std::size_t num_descriptions = 0;
};

struct CompileArgs {
  static constexpr std::string_view kName = "PJRT_Compile";
  static constexpr std::size_t kSlot = 89, kSize = 64;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  const Topology* topology = nullptr;
  const Program* program = nullptr;
  const char* compile_options = nullptr;
  std::size_t compile_options_size = 0;
  Client* client = nullptr;
  Executable* executable = nullptr;  // out
};

// Bytes of one device; of the host where the name says so.
struct ExecutableGetCompiledMemoryStatsArgs {
  static constexpr std::string_view kName =
      "PJRT_Executable_GetCompiledMemoryStats";
  static constexpr std::size_t kSlot = 96, kSize = 144;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  Executable* executable = nullptr;
  std::int64_t generated_code_size_in_bytes = 0;  // out
  std::int64_t argument_size_in_bytes = 0;
  std::int64_t output_size_in_bytes = 0;
  std::int64_t alias_size_in_bytes = 0;
  std::int64_t temp_size_in_bytes = 0;
  std::int64_t host_generated_code_size_in_bytes = 0;
  std::int64_t host_argument_size_in_bytes = 0;
  std::int64_t host_output_size_in_bytes = 0;
  std::int64_t host_alias_size_in_bytes = 0;
  std::int64_t host_temp_size_in_bytes = 0;
  std::int64_t peak_memory_in_bytes = 0;    // since 0.72
  std::int64_t total_size_in_bytes = 0;     // since 0.90
  std::int64_t total_allocation_bytes = 0;  // this and below: since 0.104
  std::int64_t indefinite_allocations = 0;
  std::int64_t peak_unpadded_heap_bytes = 0;
};

}  // namespace muster::pjrt::abi
