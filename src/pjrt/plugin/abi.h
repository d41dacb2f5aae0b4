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
struct Device;
struct MemorySpace;
struct MemoryLayout;
struct LoadedExecutable;
struct Buffer;
struct Event;
struct ExecuteContext;

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

// Element types of arrays; those that muster has names for.
enum class ElementType : std::int32_t {
  kPred = 1,
  kS8 = 2,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kBF16 = 13,
};

enum class HostBufferSemantics : std::int32_t {
  kImmutableOnlyDuringCall = 0,
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

struct EventDestroyArgs {
  static constexpr std::string_view kName = "PJRT_Event_Destroy";
  static constexpr std::size_t kSlot = 5, kSize = 24;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  Event* event = nullptr;
  Event*& object() { return event; }
};

// On a thread of the plug-in; the error belongs to who is called.
using OnReady = void (*)(PluginError* error, void* user_arg);

struct EventOnReadyArgs {
  static constexpr std::string_view kName = "PJRT_Event_OnReady";
  static constexpr std::size_t kSlot = 9, kSize = 40;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  Event* event = nullptr;
  OnReady callback = nullptr;
  void* user_arg = nullptr;
};

struct ClientCreateArgs {
  static constexpr std::string_view kName = "PJRT_Client_Create";
  static constexpr std::size_t kSlot = 10, kSize = 88;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  const NamedValue* create_options = nullptr;
  std::size_t num_options = 0;
  // Of several processes with one client each; not used.
  void* kv_get_callback = nullptr;
  void* kv_get_user_arg = nullptr;
  void* kv_put_callback = nullptr;
  void* kv_put_user_arg = nullptr;
  Client* client = nullptr;  // out
  void* kv_try_get_callback = nullptr;
  void* kv_try_get_user_arg = nullptr;
};

struct ClientDestroyArgs {
  static constexpr std::string_view kName = "PJRT_Client_Destroy";
  static constexpr std::size_t kSlot = 11, kSize = 24;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  Client* client = nullptr;
  Client*& object() { return client; }
};

struct ClientPlatformNameArgs {
  static constexpr std::string_view kName = "PJRT_Client_PlatformName";
  static constexpr std::size_t kSlot = 12, kSize = 40;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  Client* client = nullptr;
  const char* platform_name = nullptr;  // out
  std::size_t platform_name_size = 0;
};

struct ClientPlatformVersionArgs {
  static constexpr std::string_view kName = "PJRT_Client_PlatformVersion";
  static constexpr std::size_t kSlot = 14, kSize = 40;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  Client* client = nullptr;
  const char* platform_version = nullptr;  // out
  std::size_t platform_version_size = 0;
};

struct ClientAddressableDevicesArgs {
  static constexpr std::string_view kName = "PJRT_Client_AddressableDevices";
  static constexpr std::size_t kSlot = 16, kSize = 40;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  Client* client = nullptr;
  Device* const* addressable_devices = nullptr;  // out
  std::size_t num_addressable_devices = 0;
};

struct ClientCompileArgs {
  static constexpr std::string_view kName = "PJRT_Client_Compile";
  static constexpr std::size_t kSlot = 20, kSize = 56;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  Client* client = nullptr;
  const Program* program = nullptr;
  const char* compile_options = nullptr;
  std::size_t compile_options_size = 0;
  LoadedExecutable* executable = nullptr;  // out
};

struct ClientBufferFromHostBufferArgs {
  static constexpr std::string_view kName = "PJRT_Client_BufferFromHostBuffer";
  static constexpr std::size_t kSlot = 22, kSize = 120;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  Client* client = nullptr;
  const void* data = nullptr;
  ElementType type = ElementType::kF32;
  const std::int64_t* dims = nullptr;
  std::size_t num_dims = 0;
  const std::int64_t* byte_strides = nullptr;
  std::size_t num_byte_strides = 0;
  HostBufferSemantics host_buffer_semantics =
      HostBufferSemantics::kImmutableOnlyDuringCall;
  Device* device = nullptr;
  MemorySpace* memory = nullptr;
  MemoryLayout* device_layout = nullptr;
  Event* done_with_host_buffer = nullptr;  // out
  Buffer* buffer = nullptr;
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

struct DeviceGetDescriptionArgs {
  static constexpr std::string_view kName = "PJRT_Device_GetDescription";
  static constexpr std::size_t kSlot = 29, kSize = 32;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  Device* device = nullptr;
  DeviceDescription* device_description = nullptr;  // out
};

struct ExecutableDestroyArgs {
  static constexpr std::string_view kName = "PJRT_Executable_Destroy";
  static constexpr std::size_t kSlot = 40, kSize = 24;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  Executable* executable = nullptr;
  Executable*& object() { return executable; }
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

struct ExecutableNumOutputsArgs {
  static constexpr std::string_view kName = "PJRT_Executable_NumOutputs";
  static constexpr std::size_t kSlot = 44, kSize = 32;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  Executable* executable = nullptr;
  std::size_t num_outputs = 0;  // out
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

// Asked twice: without program->code for its size, then with room for it.
struct ExecutableOptimizedProgramArgs {
  static constexpr std::string_view kName = "PJRT_Executable_OptimizedProgram";
  static constexpr std::size_t kSlot = 48, kSize = 32;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  Executable* executable = nullptr;
  Program* program = nullptr;
};

struct LoadedExecutableDestroyArgs {
  static constexpr std::string_view kName = "PJRT_LoadedExecutable_Destroy";
  static constexpr std::size_t kSlot = 50, kSize = 24;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  LoadedExecutable* executable = nullptr;
  LoadedExecutable*& object() { return executable; }
};

struct LoadedExecutableGetExecutableArgs {
  static constexpr std::string_view kName =
      "PJRT_LoadedExecutable_GetExecutable";
  static constexpr std::size_t kSlot = 51, kSize = 32;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  LoadedExecutable* loaded_executable = nullptr;
  Executable* executable = nullptr;  // out
};

struct LoadedExecutableAddressableDevicesArgs {
  static constexpr std::string_view kName =
      "PJRT_LoadedExecutable_AddressableDevices";
  static constexpr std::size_t kSlot = 52, kSize = 40;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  LoadedExecutable* executable = nullptr;
  Device* const* addressable_devices = nullptr;  // out
  std::size_t num_addressable_devices = 0;
};

// The older plug-ins know it up to `context`.
struct ExecuteOptions {
  static constexpr std::size_t kSize = 112;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  void* send_callbacks = nullptr;
  void* recv_callbacks = nullptr;
  std::size_t num_send_ops = 0;
  std::size_t num_recv_ops = 0;
  int launch_id = 0;
  const std::int64_t* non_donatable_input_indices = nullptr;
  std::size_t num_non_donatable_input_indices = 0;
  ExecuteContext* context = nullptr;
  const char* call_location = nullptr;
  std::size_t num_tasks = 0;
  int* task_ids = nullptr;
  std::int64_t* incarnation_ids = nullptr;
};

// Lists by device: arguments, room for the outputs (the caller's to destroy),
// and for one event each that tells the end of the work there.
struct LoadedExecutableExecuteArgs {
  static constexpr std::string_view kName = "PJRT_LoadedExecutable_Execute";
  static constexpr std::size_t kSlot = 55, kSize = 80;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  LoadedExecutable* executable = nullptr;
  ExecuteOptions* options = nullptr;
  Buffer* const* const* argument_lists = nullptr;
  std::size_t num_devices = 0;
  std::size_t num_args = 0;
  Buffer** const* output_lists = nullptr;  // in and out
  Event** device_complete_events = nullptr;
  Device* execute_device = nullptr;
};

struct BufferDestroyArgs {
  static constexpr std::string_view kName = "PJRT_Buffer_Destroy";
  static constexpr std::size_t kSlot = 58, kSize = 24;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  Buffer* buffer = nullptr;
  Buffer*& object() { return buffer; }
};

// Of the header's two kinds of layout the one with an order of dimensions, from
// the one that varies fastest, and no tiles.
struct MemoryLayout {
  static constexpr std::size_t kSize = 76, kOrderSize = 56;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  std::size_t order_size = kOrderSize;
  Extension* order_extension_start = nullptr;
  const std::int64_t* minor_to_major = nullptr;
  std::size_t minor_to_major_size = 0;
  const std::int64_t* tile_dims = nullptr;
  const std::size_t* tile_dim_sizes = nullptr;
  std::size_t num_tiles = 0;
  std::int32_t type = 0;  // tiled
};

// With `dst` null it only tells the size; with `host_layout` null the array
// comes in the layout that it has on the device.
struct BufferToHostBufferArgs {
  static constexpr std::string_view kName = "PJRT_Buffer_ToHostBuffer";
  static constexpr std::size_t kSlot = 70, kSize = 56;
  std::size_t struct_size = kSize;
  Extension* extension_start = nullptr;
  Buffer* src = nullptr;
  MemoryLayout* host_layout = nullptr;
  void* dst = nullptr;  // in and out
  std::size_t dst_size = 0;
  Event* event = nullptr;  // out
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
  Topology*& object() { return topology; }
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
