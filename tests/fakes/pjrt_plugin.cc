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
//   topology  makes no topology
//   oom       refuses as libtpu does when a program does not fit
//   null      has no table at all
//   variables refuses with the variables that the child was given
//
// It also runs programs, on as many devices as the option cpu_device_count
// says (4): results are the first arguments again, then zeros, of the types
// that the text of @main names, or the sum of all devices' numbers where the
// module is @muster_all_reduce. But:
//
//   create    refuses to open the devices
//   stuck     never returns from PJRT_Client_Create
//   few       compiles programs that have one result less
//   refuse    fails in the call that executes
//   lost      loses a device: the third program that runs, or one that adds,
//             gives no results
//   late      finishes a copy to the host when nobody waits for it any more
//   diverge   gives replica 1 other results
//   nan       gives results that are not numbers after the arguments
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "pjrt/plugin/abi.h"

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
  if (Is("topology")) {
    return Refuse(abi::Code::kInvalidArgument,
                  "Topology layout is not divisible");
  }
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

// ---- Programs that run ----

}  // namespace

struct abi::LoadedExecutable {
  std::vector<std::size_t> outputs;  // bytes of each
  std::size_t replicas = 1;
  bool adds = false;
};

struct abi::Buffer {
  std::string bytes;
  bool lost = false;
};

struct abi::Event {
  bool lost = false;
  OnReady late = nullptr;
  void* argument = nullptr;
};

namespace {

std::int64_t device_count = 4;

abi::Device** Handles() {
  static std::array<char, 64> places;
  static std::array<abi::Device*, 64> devices;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    devices[i] = reinterpret_cast<abi::Device*>(&places[i]);
  }
  return devices.data();
}

abi::PluginError* CreateClient(abi::ClientCreateArgs* args) {
  if (Is("create")) {
    return Refuse(abi::Code::kNotFound,
                  "TPU initialization failed: No jellyfish device found.");
  }
  while (Is("stuck")) {
    pause();
  }
  device_count = 4;
  for (std::size_t i = 0; i < args->num_options; ++i) {
    const abi::NamedValue& option = args->create_options[i];
    if (std::string_view(option.name, option.name_size) == "cpu_device_count") {
      device_count = option.int64_value;
    }
  }
  static char client;
  args->client = reinterpret_cast<abi::Client*>(&client);
  return nullptr;
}

abi::PluginError* DestroyClient(abi::ClientDestroyArgs*) {
  return nullptr;
}

abi::PluginError* PlatformName(abi::ClientPlatformNameArgs* args) {
  constexpr std::string_view kName = "cpu";
  args->platform_name = kName.data();
  args->platform_name_size = kName.size();
  return nullptr;
}

abi::PluginError* PlatformVersion(abi::ClientPlatformVersionArgs* args) {
  constexpr std::string_view kVersion = "fake runtime\n1.2.3";
  args->platform_version = kVersion.data();
  args->platform_version_size = kVersion.size();
  return nullptr;
}

abi::PluginError* Description(abi::DeviceGetDescriptionArgs* args) {
  args->device_description =
      reinterpret_cast<abi::DeviceDescription*>(args->device);
  return nullptr;
}

abi::PluginError* ClientDevices(abi::ClientAddressableDevicesArgs* args) {
  args->addressable_devices = Handles();
  args->num_addressable_devices = static_cast<std::size_t>(device_count);
  return nullptr;
}

// Bytes of "tensor<2x3xf32>": four an element.
std::size_t BytesOfType(std::string_view type) {
  std::size_t bytes = 4;
  for (auto at = type.find_first_of("0123456789");
       at != std::string_view::npos && type.find('x', at) != type.npos;
       at = type.find('x', at) + 1) {
    const long side = strtol(type.data() + at, nullptr, 10);
    bytes *= side > 0 ? static_cast<std::size_t>(side) : 1;
  }
  return bytes;
}

std::size_t NumberAfter(std::string_view text, std::string_view words) {
  const auto at = text.find(words);
  return at == text.npos
             ? 1
             : strtoul(text.data() + at + words.size(), nullptr, 10);
}

abi::PluginError* CompileForClient(abi::ClientCompileArgs* args) {
  const std::string text(args->program->code, args->program->code_size);
  auto* loaded = new abi::LoadedExecutable;
  loaded->replicas = NumberAfter(text, "mhlo.num_replicas = ") *
                     NumberAfter(text, "mhlo.num_partitions = ");
  loaded->adds = text.find("module @muster_all_reduce") != text.npos;
  const auto main = text.find("@main(");
  const auto begin = text.find("-> (", main);
  const auto end = text.find("{\n", begin);
  for (auto at = text.find("tensor<", begin); at < end;
       at = text.find("tensor<", at + 1)) {
    const auto close = text.find('>', at);
    loaded->outputs.push_back(
        BytesOfType(std::string(text, at + 7, close - at - 7)));
  }
  if (Is("few")) {
    loaded->outputs.pop_back();
  }
  args->executable = loaded;
  return nullptr;
}

abi::PluginError* DestroyLoaded(abi::LoadedExecutableDestroyArgs* args) {
  delete args->executable;
  return nullptr;
}

// The same object under another name.
abi::PluginError* ExecutableOf(abi::LoadedExecutableGetExecutableArgs* args) {
  args->executable =
      reinterpret_cast<abi::Executable*>(args->loaded_executable);
  return nullptr;
}

abi::PluginError* NumOutputs(abi::ExecutableNumOutputsArgs* args) {
  args->num_outputs = reinterpret_cast<abi::LoadedExecutable*>(args->executable)
                          ->outputs.size();
  return nullptr;
}

abi::PluginError* LoadedDevices(
    abi::LoadedExecutableAddressableDevicesArgs* args) {
  args->addressable_devices = Handles();
  args->num_addressable_devices = args->executable->replicas;
  return nullptr;
}

std::string ResultOf(std::size_t size, const abi::Buffer* argument,
                     std::size_t device) {
  std::string bytes =
      argument != nullptr ? argument->bytes : std::string(size, '\0');
  bytes.resize(size, '\0');
  if (argument == nullptr && Is("nan")) {
    bytes.assign(size, '\xFF');
  }
  if (Is("diverge") && device == 1) {
    bytes[0] = static_cast<char>(bytes[0] + 1);
  }
  return bytes;
}

// The sum of the first arguments of all devices.
std::string SumOf(const abi::LoadedExecutableExecuteArgs& args) {
  float sum = 0;
  for (std::size_t device = 0; device < args.num_devices; ++device) {
    float number = 0;
    std::memcpy(&number, args.argument_lists[device][0]->bytes.data(),
                sizeof number);
    sum += number;
  }
  std::string bytes(sizeof sum, '\0');
  std::memcpy(bytes.data(), &sum, sizeof sum);
  return bytes;
}

abi::PluginError* Execute(abi::LoadedExecutableExecuteArgs* args) {
  static int runs = 0;
  ++runs;
  if (Is("refuse")) {
    return Refuse(abi::Code::kInvalidArgument,
                  "Executable expected shape f32[2] for argument 0 but got "
                  "f32[3]");
  }
  const auto& outputs = args->executable->outputs;
  const bool adds = args->executable->adds;
  const bool lost = Is("lost") && (adds || runs >= 3);
  const abi::Buffer sum{adds ? SumOf(*args) : std::string(), false};
  for (std::size_t device = 0; device < args->num_devices; ++device) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const abi::Buffer* argument =
          i < args->num_args ? args->argument_lists[device][i] : nullptr;
      // Metrics come after the state, where the batch is among the arguments.
      argument = argument != nullptr && argument->bytes.size() == outputs[i]
                     ? argument
                     : nullptr;
      args->output_lists[device][i] = new abi::Buffer{
          ResultOf(outputs[i], adds ? &sum : argument, device), lost};
    }
  }
  return nullptr;
}

abi::PluginError* PutBuffer(abi::ClientBufferFromHostBufferArgs* args) {
  std::size_t bytes = 4;
  for (std::size_t i = 0; i < args->num_dims; ++i) {
    bytes *= static_cast<std::size_t>(args->dims[i]);
  }
  args->buffer = new abi::Buffer{
      std::string(static_cast<const char*>(args->data), bytes), false};
  args->done_with_host_buffer = new abi::Event;
  return nullptr;
}

abi::PluginError* DestroyBuffer(abi::BufferDestroyArgs* args) {
  delete args->buffer;
  return nullptr;
}

abi::PluginError* CopyToHost(abi::BufferToHostBufferArgs* args) {
  std::string bytes = args->src->bytes;
  // In its own layout an array of this device begins with its end.
  if (args->host_layout == nullptr && bytes.size() > sizeof(float)) {
    std::reverse(bytes.begin(), bytes.end());
  }
  bytes.copy(static_cast<char*>(args->dst), args->dst_size);
  args->event = new abi::Event{.lost = args->src->lost};
  return nullptr;
}

abi::PluginError* DestroyEvent(abi::EventDestroyArgs* args) {
  if (args->event->late != nullptr) {
    args->event->late(nullptr, args->event->argument);
  }
  delete args->event;
  return nullptr;
}

abi::PluginError* WhenReady(abi::EventOnReadyArgs* args) {
  if (Is("late")) {
    args->event->late = args->callback;
    args->event->argument = args->user_arg;
    return nullptr;
  }
  args->callback(args->event->lost
                     ? Refuse(abi::Code::kUnavailable, "device halted")
                     : nullptr,
                 args->user_arg);
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
  Set<CreateClient>(table);
  Set<DestroyClient>(table);
  Set<PlatformName>(table);
  Set<PlatformVersion>(table);
  Set<Description>(table);
  Set<ClientDevices>(table);
  Set<CompileForClient>(table);
  Set<DestroyLoaded>(table);
  Set<ExecutableOf>(table);
  Set<NumOutputs>(table);
  Set<LoadedDevices>(table);
  Set<Execute>(table);
  Set<PutBuffer>(table);
  Set<DestroyBuffer>(table);
  Set<CopyToHost>(table);
  Set<DestroyEvent>(table);
  Set<WhenReady>(table);
  return table;
}

}  // namespace

extern "C" const abi::Api* GetPjrtApi();
extern "C" const abi::Api* GetPjrtApi() {
  static const Table table = MakeTable();
  return Is("null") ? nullptr : &table.head;
}
