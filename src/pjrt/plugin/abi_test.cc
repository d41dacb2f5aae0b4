// SPDX-License-Identifier: Apache-2.0
// Our declarations beside the real header of a plug-in's package.
#include "pjrt/plugin/abi.h"

#include <gtest/gtest.h>

#ifdef MUSTER_PJRT_HEADER
#include MUSTER_PJRT_HEADER

namespace muster::pjrt {
namespace {

constexpr std::size_t SlotOf(std::size_t offset) {
  return (offset - pjrt::abi::kFirstFunction) / sizeof(void*);
}

// A field of ours lies where theirs does, and is as large.
#define MUSTER_SAME_FIELD(ours, theirs, our_field, field)             \
  EXPECT_EQ(offsetof(abi::ours, our_field), offsetof(theirs, field)); \
  EXPECT_EQ(sizeof(abi::ours::our_field), sizeof(theirs::field))
#define MUSTER_SAME(ours, theirs, field) \
  MUSTER_SAME_FIELD(ours, theirs, field, field)
#define MUSTER_SAME_CALL(ours, call)                                          \
  EXPECT_EQ(abi::ours::kName, #call);                                         \
  EXPECT_EQ(abi::ours::kSlot, SlotOf(offsetof(PJRT_Api, call))) << #call;     \
  EXPECT_EQ(abi::ours::kSize, std::size_t{call##_Args_STRUCT_SIZE}) << #call; \
  MUSTER_SAME(ours, call##_Args, struct_size);                                \
  MUSTER_SAME(ours, call##_Args, extension_start)

TEST(Abi, PlacesTheTableAsTheHeaderDoes) {
  EXPECT_EQ(offsetof(pjrt::abi::Api, struct_size),
            offsetof(PJRT_Api, struct_size));
  EXPECT_EQ(offsetof(pjrt::abi::Api, extension_start),
            offsetof(PJRT_Api, extension_start));
  EXPECT_EQ(offsetof(pjrt::abi::Api, version),
            offsetof(PJRT_Api, pjrt_api_version));
  EXPECT_EQ(offsetof(pjrt::abi::Api, functions),
            offsetof(PJRT_Api, PJRT_Error_Destroy));
  EXPECT_EQ(pjrt::abi::kFirstFunction, offsetof(PJRT_Api, PJRT_Error_Destroy));
  MUSTER_SAME_FIELD(Version, PJRT_Api_Version, major, major_version);
  MUSTER_SAME_FIELD(Version, PJRT_Api_Version, minor, minor_version);
  EXPECT_EQ(sizeof(pjrt::abi::Version), sizeof(PJRT_Api_Version));
  MUSTER_SAME(Extension, PJRT_Extension_Base, struct_size);
  MUSTER_SAME(Extension, PJRT_Extension_Base, type);
  MUSTER_SAME(Extension, PJRT_Extension_Base, next);
  EXPECT_EQ(pjrt::abi::kMajor, PJRT_API_MAJOR);
}

TEST(Abi, NumbersCodesAsTheHeaderDoes) {
#define MUSTER_SAME_CODE(ours, theirs)               \
  EXPECT_EQ(static_cast<int>(pjrt::abi::Code::ours), \
            static_cast<int>(PJRT_Error_Code_##theirs))
  MUSTER_SAME_CODE(kOk, OK);
  MUSTER_SAME_CODE(kCancelled, CANCELLED);
  MUSTER_SAME_CODE(kUnknown, UNKNOWN);
  MUSTER_SAME_CODE(kInvalidArgument, INVALID_ARGUMENT);
  MUSTER_SAME_CODE(kDeadlineExceeded, DEADLINE_EXCEEDED);
  MUSTER_SAME_CODE(kNotFound, NOT_FOUND);
  MUSTER_SAME_CODE(kAlreadyExists, ALREADY_EXISTS);
  MUSTER_SAME_CODE(kPermissionDenied, PERMISSION_DENIED);
  MUSTER_SAME_CODE(kResourceExhausted, RESOURCE_EXHAUSTED);
  MUSTER_SAME_CODE(kFailedPrecondition, FAILED_PRECONDITION);
  MUSTER_SAME_CODE(kAborted, ABORTED);
  MUSTER_SAME_CODE(kOutOfRange, OUT_OF_RANGE);
  MUSTER_SAME_CODE(kUnimplemented, UNIMPLEMENTED);
  MUSTER_SAME_CODE(kInternal, INTERNAL);
  MUSTER_SAME_CODE(kUnavailable, UNAVAILABLE);
  MUSTER_SAME_CODE(kDataLoss, DATA_LOSS);
  MUSTER_SAME_CODE(kUnauthenticated, UNAUTHENTICATED);
#define MUSTER_SAME_TYPE(name)                            \
  EXPECT_EQ(static_cast<int>(pjrt::abi::ValueType::name), \
            static_cast<int>(PJRT_NamedValue_##name))
  MUSTER_SAME_TYPE(kString);
  MUSTER_SAME_TYPE(kInt64);
  MUSTER_SAME_TYPE(kInt64List);
  MUSTER_SAME_TYPE(kFloat);
  MUSTER_SAME_TYPE(kBool);
#define MUSTER_SAME_ELEMENT(ours, theirs)                   \
  EXPECT_EQ(static_cast<int>(pjrt::abi::ElementType::ours), \
            static_cast<int>(PJRT_Buffer_Type_##theirs))
  MUSTER_SAME_ELEMENT(kPred, PRED);
  MUSTER_SAME_ELEMENT(kS8, S8);
  MUSTER_SAME_ELEMENT(kS32, S32);
  MUSTER_SAME_ELEMENT(kS64, S64);
  MUSTER_SAME_ELEMENT(kU8, U8);
  MUSTER_SAME_ELEMENT(kF16, F16);
  MUSTER_SAME_ELEMENT(kF32, F32);
  MUSTER_SAME_ELEMENT(kF64, F64);
  MUSTER_SAME_ELEMENT(kBF16, BF16);
  EXPECT_EQ(
      static_cast<int>(
          pjrt::abi::HostBufferSemantics::kImmutableOnlyDuringCall),
      static_cast<int>(PJRT_HostBufferSemantics_kImmutableOnlyDuringCall));
}

TEST(Abi, LaysOutValuesAndProgramsAsTheHeaderDoes) {
  EXPECT_EQ(pjrt::abi::NamedValue::kSize,
            std::size_t{PJRT_NamedValue_STRUCT_SIZE});
  EXPECT_EQ(sizeof(pjrt::abi::NamedValue),
            sizeof(PJRT_NamedValue));  // they are arrays
  MUSTER_SAME(NamedValue, PJRT_NamedValue, name);
  MUSTER_SAME(NamedValue, PJRT_NamedValue, name_size);
  MUSTER_SAME(NamedValue, PJRT_NamedValue, type);
  MUSTER_SAME(NamedValue, PJRT_NamedValue, string_value);
  MUSTER_SAME(NamedValue, PJRT_NamedValue, int64_value);
  MUSTER_SAME(NamedValue, PJRT_NamedValue, int64_array_value);
  MUSTER_SAME(NamedValue, PJRT_NamedValue, float_value);
  MUSTER_SAME(NamedValue, PJRT_NamedValue, bool_value);
  MUSTER_SAME(NamedValue, PJRT_NamedValue, value_size);
  EXPECT_EQ(pjrt::abi::Program::kSize, std::size_t{PJRT_Program_STRUCT_SIZE});
  MUSTER_SAME(Program, PJRT_Program, code);
  MUSTER_SAME(Program, PJRT_Program, code_size);
  MUSTER_SAME(Program, PJRT_Program, format);
  MUSTER_SAME(Program, PJRT_Program, format_size);
}

TEST(Abi, LaysOutErrorsAndThePluginAsTheHeaderDoes) {
  MUSTER_SAME_CALL(ErrorDestroyArgs, PJRT_Error_Destroy);
  MUSTER_SAME(ErrorDestroyArgs, PJRT_Error_Destroy_Args, error);
  MUSTER_SAME_CALL(ErrorMessageArgs, PJRT_Error_Message);
  MUSTER_SAME(ErrorMessageArgs, PJRT_Error_Message_Args, error);
  MUSTER_SAME(ErrorMessageArgs, PJRT_Error_Message_Args, message);
  MUSTER_SAME(ErrorMessageArgs, PJRT_Error_Message_Args, message_size);
  MUSTER_SAME_CALL(ErrorGetCodeArgs, PJRT_Error_GetCode);
  MUSTER_SAME(ErrorGetCodeArgs, PJRT_Error_GetCode_Args, error);
  MUSTER_SAME(ErrorGetCodeArgs, PJRT_Error_GetCode_Args, code);
  MUSTER_SAME_CALL(PluginInitializeArgs, PJRT_Plugin_Initialize);
  MUSTER_SAME_CALL(PluginAttributesArgs, PJRT_Plugin_Attributes);
  MUSTER_SAME(PluginAttributesArgs, PJRT_Plugin_Attributes_Args, attributes);
  MUSTER_SAME(PluginAttributesArgs, PJRT_Plugin_Attributes_Args,
              num_attributes);
}

TEST(Abi, LaysOutTopologiesAsTheHeaderDoes) {
  MUSTER_SAME_CALL(DeviceDescriptionAttributesArgs,
                   PJRT_DeviceDescription_Attributes);
  MUSTER_SAME(DeviceDescriptionAttributesArgs,
              PJRT_DeviceDescription_Attributes_Args, device_description);
  MUSTER_SAME(DeviceDescriptionAttributesArgs,
              PJRT_DeviceDescription_Attributes_Args, num_attributes);
  MUSTER_SAME(DeviceDescriptionAttributesArgs,
              PJRT_DeviceDescription_Attributes_Args, attributes);
  MUSTER_SAME_CALL(DeviceDescriptionKindArgs, PJRT_DeviceDescription_Kind);
  MUSTER_SAME(DeviceDescriptionKindArgs, PJRT_DeviceDescription_Kind_Args,
              device_description);
  MUSTER_SAME(DeviceDescriptionKindArgs, PJRT_DeviceDescription_Kind_Args,
              device_kind);
  MUSTER_SAME(DeviceDescriptionKindArgs, PJRT_DeviceDescription_Kind_Args,
              device_kind_size);
  MUSTER_SAME_CALL(TopologyCreateArgs, PJRT_TopologyDescription_Create);
  using Create = PJRT_TopologyDescription_Create_Args;
  MUSTER_SAME(TopologyCreateArgs, Create, topology_name);
  MUSTER_SAME(TopologyCreateArgs, Create, topology_name_size);
  MUSTER_SAME(TopologyCreateArgs, Create, create_options);
  MUSTER_SAME(TopologyCreateArgs, Create, num_options);
  MUSTER_SAME(TopologyCreateArgs, Create, topology);
  MUSTER_SAME_CALL(TopologyDestroyArgs, PJRT_TopologyDescription_Destroy);
  MUSTER_SAME(TopologyDestroyArgs, PJRT_TopologyDescription_Destroy_Args,
              topology);
  MUSTER_SAME_CALL(TopologyGetDeviceDescriptionsArgs,
                   PJRT_TopologyDescription_GetDeviceDescriptions);
  using Devices = PJRT_TopologyDescription_GetDeviceDescriptions_Args;
  MUSTER_SAME(TopologyGetDeviceDescriptionsArgs, Devices, topology);
  MUSTER_SAME(TopologyGetDeviceDescriptionsArgs, Devices, descriptions);
  MUSTER_SAME(TopologyGetDeviceDescriptionsArgs, Devices, num_descriptions);
}

TEST(Abi, LaysOutCompilingAsTheHeaderDoes) {
  MUSTER_SAME_CALL(CompileArgs, PJRT_Compile);
  MUSTER_SAME(CompileArgs, PJRT_Compile_Args, topology);
  MUSTER_SAME(CompileArgs, PJRT_Compile_Args, program);
  MUSTER_SAME(CompileArgs, PJRT_Compile_Args, compile_options);
  MUSTER_SAME(CompileArgs, PJRT_Compile_Args, compile_options_size);
  MUSTER_SAME(CompileArgs, PJRT_Compile_Args, client);
  MUSTER_SAME(CompileArgs, PJRT_Compile_Args, executable);
  MUSTER_SAME_CALL(ExecutableDestroyArgs, PJRT_Executable_Destroy);
  MUSTER_SAME(ExecutableDestroyArgs, PJRT_Executable_Destroy_Args, executable);
  MUSTER_SAME_CALL(ExecutableNumReplicasArgs, PJRT_Executable_NumReplicas);
  MUSTER_SAME(ExecutableNumReplicasArgs, PJRT_Executable_NumReplicas_Args,
              executable);
  MUSTER_SAME(ExecutableNumReplicasArgs, PJRT_Executable_NumReplicas_Args,
              num_replicas);
  MUSTER_SAME_CALL(ExecutableNumPartitionsArgs, PJRT_Executable_NumPartitions);
  MUSTER_SAME(ExecutableNumPartitionsArgs, PJRT_Executable_NumPartitions_Args,
              executable);
  MUSTER_SAME(ExecutableNumPartitionsArgs, PJRT_Executable_NumPartitions_Args,
              num_partitions);
  MUSTER_SAME_CALL(ExecutableOptimizedProgramArgs,
                   PJRT_Executable_OptimizedProgram);
  MUSTER_SAME(ExecutableOptimizedProgramArgs,
              PJRT_Executable_OptimizedProgram_Args, executable);
  MUSTER_SAME(ExecutableOptimizedProgramArgs,
              PJRT_Executable_OptimizedProgram_Args, program);
  MUSTER_SAME_CALL(ExecutableGetCostAnalysisArgs,
                   PJRT_Executable_GetCostAnalysis);
  MUSTER_SAME(ExecutableGetCostAnalysisArgs,
              PJRT_Executable_GetCostAnalysis_Args, executable);
  MUSTER_SAME(ExecutableGetCostAnalysisArgs,
              PJRT_Executable_GetCostAnalysis_Args, num_properties);
  MUSTER_SAME(ExecutableGetCostAnalysisArgs,
              PJRT_Executable_GetCostAnalysis_Args, properties);
}

TEST(Abi, LaysOutClientsAndBuffersAsTheHeaderDoes) {
  MUSTER_SAME_CALL(EventDestroyArgs, PJRT_Event_Destroy);
  MUSTER_SAME(EventDestroyArgs, PJRT_Event_Destroy_Args, event);
  MUSTER_SAME_CALL(EventOnReadyArgs, PJRT_Event_OnReady);
  MUSTER_SAME(EventOnReadyArgs, PJRT_Event_OnReady_Args, event);
  MUSTER_SAME(EventOnReadyArgs, PJRT_Event_OnReady_Args, callback);
  MUSTER_SAME(EventOnReadyArgs, PJRT_Event_OnReady_Args, user_arg);
  MUSTER_SAME_CALL(ClientCreateArgs, PJRT_Client_Create);
  MUSTER_SAME(ClientCreateArgs, PJRT_Client_Create_Args, create_options);
  MUSTER_SAME(ClientCreateArgs, PJRT_Client_Create_Args, num_options);
  MUSTER_SAME(ClientCreateArgs, PJRT_Client_Create_Args, kv_get_callback);
  MUSTER_SAME(ClientCreateArgs, PJRT_Client_Create_Args, kv_get_user_arg);
  MUSTER_SAME(ClientCreateArgs, PJRT_Client_Create_Args, kv_put_callback);
  MUSTER_SAME(ClientCreateArgs, PJRT_Client_Create_Args, kv_put_user_arg);
  MUSTER_SAME(ClientCreateArgs, PJRT_Client_Create_Args, client);
  MUSTER_SAME(ClientCreateArgs, PJRT_Client_Create_Args, kv_try_get_callback);
  MUSTER_SAME(ClientCreateArgs, PJRT_Client_Create_Args, kv_try_get_user_arg);
  MUSTER_SAME_CALL(ClientDestroyArgs, PJRT_Client_Destroy);
  MUSTER_SAME(ClientDestroyArgs, PJRT_Client_Destroy_Args, client);
  MUSTER_SAME_CALL(ClientPlatformNameArgs, PJRT_Client_PlatformName);
  MUSTER_SAME(ClientPlatformNameArgs, PJRT_Client_PlatformName_Args, client);
  MUSTER_SAME(ClientPlatformNameArgs, PJRT_Client_PlatformName_Args,
              platform_name);
  MUSTER_SAME(ClientPlatformNameArgs, PJRT_Client_PlatformName_Args,
              platform_name_size);
  MUSTER_SAME_CALL(ClientPlatformVersionArgs, PJRT_Client_PlatformVersion);
  MUSTER_SAME(ClientPlatformVersionArgs, PJRT_Client_PlatformVersion_Args,
              client);
  MUSTER_SAME(ClientPlatformVersionArgs, PJRT_Client_PlatformVersion_Args,
              platform_version);
  MUSTER_SAME(ClientPlatformVersionArgs, PJRT_Client_PlatformVersion_Args,
              platform_version_size);
  MUSTER_SAME_CALL(DeviceGetDescriptionArgs, PJRT_Device_GetDescription);
  MUSTER_SAME(DeviceGetDescriptionArgs, PJRT_Device_GetDescription_Args,
              device);
  MUSTER_SAME(DeviceGetDescriptionArgs, PJRT_Device_GetDescription_Args,
              device_description);
  MUSTER_SAME_CALL(ClientAddressableDevicesArgs,
                   PJRT_Client_AddressableDevices);
  MUSTER_SAME(ClientAddressableDevicesArgs, PJRT_Client_AddressableDevices_Args,
              client);
  MUSTER_SAME(ClientAddressableDevicesArgs, PJRT_Client_AddressableDevices_Args,
              addressable_devices);
  MUSTER_SAME(ClientAddressableDevicesArgs, PJRT_Client_AddressableDevices_Args,
              num_addressable_devices);
  MUSTER_SAME_CALL(ClientCompileArgs, PJRT_Client_Compile);
  MUSTER_SAME(ClientCompileArgs, PJRT_Client_Compile_Args, client);
  MUSTER_SAME(ClientCompileArgs, PJRT_Client_Compile_Args, program);
  MUSTER_SAME(ClientCompileArgs, PJRT_Client_Compile_Args, compile_options);
  MUSTER_SAME(ClientCompileArgs, PJRT_Client_Compile_Args,
              compile_options_size);
  MUSTER_SAME(ClientCompileArgs, PJRT_Client_Compile_Args, executable);
  MUSTER_SAME_CALL(ClientBufferFromHostBufferArgs,
                   PJRT_Client_BufferFromHostBuffer);
  MUSTER_SAME(ClientBufferFromHostBufferArgs,
              PJRT_Client_BufferFromHostBuffer_Args, client);
  MUSTER_SAME(ClientBufferFromHostBufferArgs,
              PJRT_Client_BufferFromHostBuffer_Args, data);
  MUSTER_SAME(ClientBufferFromHostBufferArgs,
              PJRT_Client_BufferFromHostBuffer_Args, type);
  MUSTER_SAME(ClientBufferFromHostBufferArgs,
              PJRT_Client_BufferFromHostBuffer_Args, dims);
  MUSTER_SAME(ClientBufferFromHostBufferArgs,
              PJRT_Client_BufferFromHostBuffer_Args, num_dims);
  MUSTER_SAME(ClientBufferFromHostBufferArgs,
              PJRT_Client_BufferFromHostBuffer_Args, byte_strides);
  MUSTER_SAME(ClientBufferFromHostBufferArgs,
              PJRT_Client_BufferFromHostBuffer_Args, num_byte_strides);
  MUSTER_SAME(ClientBufferFromHostBufferArgs,
              PJRT_Client_BufferFromHostBuffer_Args, host_buffer_semantics);
  MUSTER_SAME(ClientBufferFromHostBufferArgs,
              PJRT_Client_BufferFromHostBuffer_Args, device);
  MUSTER_SAME(ClientBufferFromHostBufferArgs,
              PJRT_Client_BufferFromHostBuffer_Args, memory);
  MUSTER_SAME(ClientBufferFromHostBufferArgs,
              PJRT_Client_BufferFromHostBuffer_Args, device_layout);
  MUSTER_SAME(ClientBufferFromHostBufferArgs,
              PJRT_Client_BufferFromHostBuffer_Args, done_with_host_buffer);
  MUSTER_SAME(ClientBufferFromHostBufferArgs,
              PJRT_Client_BufferFromHostBuffer_Args, buffer);
  MUSTER_SAME_CALL(BufferDestroyArgs, PJRT_Buffer_Destroy);
  MUSTER_SAME(BufferDestroyArgs, PJRT_Buffer_Destroy_Args, buffer);
  EXPECT_EQ(pjrt::abi::MemoryLayout::kSize,
            std::size_t{PJRT_Buffer_MemoryLayout_STRUCT_SIZE});
  EXPECT_EQ(pjrt::abi::MemoryLayout::kOrderSize,
            std::size_t{PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE});
  EXPECT_EQ(pjrt::abi::MemoryLayout().type,
            PJRT_Buffer_MemoryLayout_Type_Tiled);
  MUSTER_SAME(MemoryLayout, PJRT_Buffer_MemoryLayout, struct_size);
  MUSTER_SAME(MemoryLayout, PJRT_Buffer_MemoryLayout, type);
  MUSTER_SAME_FIELD(MemoryLayout, PJRT_Buffer_MemoryLayout, order_size,
                    tiled.struct_size);
  MUSTER_SAME_FIELD(MemoryLayout, PJRT_Buffer_MemoryLayout, minor_to_major,
                    tiled.minor_to_major);
  MUSTER_SAME_FIELD(MemoryLayout, PJRT_Buffer_MemoryLayout, minor_to_major_size,
                    tiled.minor_to_major_size);
  MUSTER_SAME_FIELD(MemoryLayout, PJRT_Buffer_MemoryLayout, num_tiles,
                    tiled.num_tiles);
  MUSTER_SAME_CALL(BufferToHostBufferArgs, PJRT_Buffer_ToHostBuffer);
  MUSTER_SAME(BufferToHostBufferArgs, PJRT_Buffer_ToHostBuffer_Args, src);
  MUSTER_SAME(BufferToHostBufferArgs, PJRT_Buffer_ToHostBuffer_Args,
              host_layout);
  MUSTER_SAME(BufferToHostBufferArgs, PJRT_Buffer_ToHostBuffer_Args, dst);
  MUSTER_SAME(BufferToHostBufferArgs, PJRT_Buffer_ToHostBuffer_Args, dst_size);
  MUSTER_SAME(BufferToHostBufferArgs, PJRT_Buffer_ToHostBuffer_Args, event);
}

TEST(Abi, LaysOutRunningAsTheHeaderDoes) {
  MUSTER_SAME_CALL(ExecutableNumOutputsArgs, PJRT_Executable_NumOutputs);
  MUSTER_SAME(ExecutableNumOutputsArgs, PJRT_Executable_NumOutputs_Args,
              executable);
  MUSTER_SAME(ExecutableNumOutputsArgs, PJRT_Executable_NumOutputs_Args,
              num_outputs);
  MUSTER_SAME_CALL(LoadedExecutableDestroyArgs, PJRT_LoadedExecutable_Destroy);
  MUSTER_SAME(LoadedExecutableDestroyArgs, PJRT_LoadedExecutable_Destroy_Args,
              executable);
  MUSTER_SAME_CALL(LoadedExecutableGetExecutableArgs,
                   PJRT_LoadedExecutable_GetExecutable);
  MUSTER_SAME(LoadedExecutableGetExecutableArgs,
              PJRT_LoadedExecutable_GetExecutable_Args, loaded_executable);
  MUSTER_SAME(LoadedExecutableGetExecutableArgs,
              PJRT_LoadedExecutable_GetExecutable_Args, executable);
  MUSTER_SAME_CALL(LoadedExecutableAddressableDevicesArgs,
                   PJRT_LoadedExecutable_AddressableDevices);
  MUSTER_SAME(LoadedExecutableAddressableDevicesArgs,
              PJRT_LoadedExecutable_AddressableDevices_Args, executable);
  MUSTER_SAME(LoadedExecutableAddressableDevicesArgs,
              PJRT_LoadedExecutable_AddressableDevices_Args,
              addressable_devices);
  MUSTER_SAME(LoadedExecutableAddressableDevicesArgs,
              PJRT_LoadedExecutable_AddressableDevices_Args,
              num_addressable_devices);
  MUSTER_SAME_CALL(LoadedExecutableExecuteArgs, PJRT_LoadedExecutable_Execute);
  MUSTER_SAME(LoadedExecutableExecuteArgs, PJRT_LoadedExecutable_Execute_Args,
              executable);
  MUSTER_SAME(LoadedExecutableExecuteArgs, PJRT_LoadedExecutable_Execute_Args,
              options);
  MUSTER_SAME(LoadedExecutableExecuteArgs, PJRT_LoadedExecutable_Execute_Args,
              argument_lists);
  MUSTER_SAME(LoadedExecutableExecuteArgs, PJRT_LoadedExecutable_Execute_Args,
              num_devices);
  MUSTER_SAME(LoadedExecutableExecuteArgs, PJRT_LoadedExecutable_Execute_Args,
              num_args);
  MUSTER_SAME(LoadedExecutableExecuteArgs, PJRT_LoadedExecutable_Execute_Args,
              output_lists);
  MUSTER_SAME(LoadedExecutableExecuteArgs, PJRT_LoadedExecutable_Execute_Args,
              device_complete_events);
  MUSTER_SAME(LoadedExecutableExecuteArgs, PJRT_LoadedExecutable_Execute_Args,
              execute_device);
  EXPECT_EQ(pjrt::abi::ExecuteOptions::kSize,
            std::size_t{PJRT_ExecuteOptions_STRUCT_SIZE});
  MUSTER_SAME(ExecuteOptions, PJRT_ExecuteOptions, send_callbacks);
  MUSTER_SAME(ExecuteOptions, PJRT_ExecuteOptions, recv_callbacks);
  MUSTER_SAME(ExecuteOptions, PJRT_ExecuteOptions, num_send_ops);
  MUSTER_SAME(ExecuteOptions, PJRT_ExecuteOptions, num_recv_ops);
  MUSTER_SAME(ExecuteOptions, PJRT_ExecuteOptions, launch_id);
  MUSTER_SAME(ExecuteOptions, PJRT_ExecuteOptions, non_donatable_input_indices);
  MUSTER_SAME(ExecuteOptions, PJRT_ExecuteOptions,
              num_non_donatable_input_indices);
  MUSTER_SAME(ExecuteOptions, PJRT_ExecuteOptions, context);
  MUSTER_SAME(ExecuteOptions, PJRT_ExecuteOptions, call_location);
  MUSTER_SAME(ExecuteOptions, PJRT_ExecuteOptions, num_tasks);
  MUSTER_SAME(ExecuteOptions, PJRT_ExecuteOptions, task_ids);
  MUSTER_SAME(ExecuteOptions, PJRT_ExecuteOptions, incarnation_ids);
}

// The one struct that grew after API 0.81: ours is the newest known.
TEST(Abi, LaysOutMemoryAsTheHeaderDoes) {
  using Ours = pjrt::abi::ExecutableGetCompiledMemoryStatsArgs;
  using Theirs = PJRT_Executable_GetCompiledMemoryStats_Args;
  EXPECT_EQ(Ours::kSlot,
            SlotOf(offsetof(PJRT_Api, PJRT_Executable_GetCompiledMemoryStats)));
  EXPECT_GE(
      Ours::kSize,
      std::size_t{PJRT_Executable_GetCompiledMemoryStats_Args_STRUCT_SIZE});
#define MUSTER_SAME_MEMORY(field) \
  MUSTER_SAME(ExecutableGetCompiledMemoryStatsArgs, Theirs, field)
  MUSTER_SAME_MEMORY(executable);
  MUSTER_SAME_MEMORY(generated_code_size_in_bytes);
  MUSTER_SAME_MEMORY(argument_size_in_bytes);
  MUSTER_SAME_MEMORY(output_size_in_bytes);
  MUSTER_SAME_MEMORY(alias_size_in_bytes);
  MUSTER_SAME_MEMORY(temp_size_in_bytes);
  MUSTER_SAME_MEMORY(host_generated_code_size_in_bytes);
  MUSTER_SAME_MEMORY(host_argument_size_in_bytes);
  MUSTER_SAME_MEMORY(host_output_size_in_bytes);
  MUSTER_SAME_MEMORY(host_alias_size_in_bytes);
  MUSTER_SAME_MEMORY(host_temp_size_in_bytes);
  MUSTER_SAME_MEMORY(peak_memory_in_bytes);
}

}  // namespace
}  // namespace muster::pjrt

#else

TEST(Abi, IsComparedWithTheRealHeader) {
  GTEST_SKIP() << "no pjrt_c_api.h at configure time: give its path with "
                  "-DMUSTER_PJRT_HEADER=… (package xla-cpu-pjrt of PyPI)";
}

#endif
