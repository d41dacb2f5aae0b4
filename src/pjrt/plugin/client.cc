// SPDX-License-Identifier: Apache-2.0
#include "pjrt/plugin/client.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "base/mutex.h"
#include "pjrt/plugin/fault.h"

namespace muster::pjrt {
namespace {

using OwnedEvent = Owned<abi::Event, pjrt::abi::EventDestroyArgs>;

// Shared with the plug-in's thread, which may be late: it and the bytes that
// are copied outlive whoever waits.
struct Signal {
  explicit Signal(const Plugin& of) : plugin(of) {}

  const Plugin plugin;
  std::string bytes;
  Mutex mutex;
  CondVar changed;
  bool ready MUSTER_GUARDED_BY(mutex) = false;
  std::optional<Error> failed MUSTER_GUARDED_BY(mutex);
};
using SharedSignal = std::shared_ptr<Signal>;

void Ready(abi::PluginError* error, void* argument) {
  const std::unique_ptr<SharedSignal> held(
      static_cast<SharedSignal*>(argument));
  Signal& signal = **held;
  const MutexLock lock(signal.mutex);
  signal.ready = true;
  if (error != nullptr) {
    signal.failed = signal.plugin.Take("PJRT_Event_OnReady", error);
  }
  signal.changed.NotifyAll();
}

Status Wait(const Plugin& plugin, abi::Event* event, const SharedSignal& signal,
            Deadline deadline) {
  const OwnedEvent owned(plugin, event);
  auto held = std::make_unique<SharedSignal>(signal);
  pjrt::abi::EventOnReadyArgs args;
  args.event = event;
  args.callback = Ready;
  args.user_arg = held.get();
  MUSTER_TRY(plugin.Call(args));
  static_cast<void>(held.release());  // the callback's now
  const MutexLock lock(signal->mutex);
  while (!signal->ready) {
    if (!signal->changed.WaitUntil(signal->mutex, deadline.when()) &&
        !signal->ready) {
      return Error(Cause::kDeadlineExceeded,
                   "a device did not finish before the deadline");
    }
  }
  if (signal->failed) {
    return *signal->failed;
  }
  return Ok();
}

// The options as the interface takes them; views into `values`.
std::vector<pjrt::abi::NamedValue> ToNamedValues(const Values& values) {
  std::vector<pjrt::abi::NamedValue> named;
  for (const auto& [name, value] : values) {
    pjrt::abi::NamedValue one;
    one.name = name.data();
    one.name_size = name.size();
    one.value_size = 1;
    if (const auto* text = std::get_if<std::string>(&value)) {
      one.type = pjrt::abi::ValueType::kString;
      one.string_value = text->data();
      one.value_size = text->size();
    } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
      one.type = pjrt::abi::ValueType::kInt64;
      one.int64_value = *number;
    } else if (const auto* list =
                   std::get_if<std::vector<std::int64_t>>(&value)) {
      one.type = pjrt::abi::ValueType::kInt64List;
      one.int64_array_value = list->data();
      one.value_size = list->size();
    } else if (const auto* real = std::get_if<float>(&value)) {
      one.type = pjrt::abi::ValueType::kFloat;
      one.float_value = *real;
    } else {
      one.type = pjrt::abi::ValueType::kBool;
      one.bool_value = std::get<bool>(value);
    }
    named.push_back(one);
  }
  return named;
}

// What a plug-in says, cut to what is worth showing.
std::string TextOf(const char* text, std::size_t size) {
  return text == nullptr ? "" : std::string(text, std::min(size, kTextLimit));
}

}  // namespace

pjrt::abi::ElementType ElementTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return pjrt::abi::ElementType::kF32;
    case DType::kFloat64:
      return pjrt::abi::ElementType::kF64;
    case DType::kBFloat16:
      return pjrt::abi::ElementType::kBF16;
    case DType::kFloat16:
      return pjrt::abi::ElementType::kF16;
    case DType::kInt8:
      return pjrt::abi::ElementType::kS8;
    case DType::kInt32:
      return pjrt::abi::ElementType::kS32;
    case DType::kInt64:
      return pjrt::abi::ElementType::kS64;
    case DType::kUInt8:
      return pjrt::abi::ElementType::kU8;
    case DType::kBool:
      return pjrt::abi::ElementType::kPred;
  }
  return pjrt::abi::ElementType::kF32;
}

Result<Loaded> Loaded::Make(const Plugin& plugin, OwnedLoaded object) {
  Loaded loaded(plugin, std::move(object));
  pjrt::abi::LoadedExecutableGetExecutableArgs executable;
  executable.loaded_executable = loaded.object_.get();
  MUSTER_TRY(plugin.Call(executable));
  const OwnedExecutable owned(plugin, executable.executable);
  pjrt::abi::ExecutableNumOutputsArgs outputs;
  outputs.executable = owned.get();
  MUSTER_TRY(plugin.Call(outputs));
  loaded.outputs_ = outputs.num_outputs;
  pjrt::abi::LoadedExecutableAddressableDevicesArgs devices;
  devices.executable = loaded.object_.get();
  MUSTER_TRY(plugin.Call(devices));
  loaded.devices_.assign(
      devices.addressable_devices,
      devices.addressable_devices + devices.num_addressable_devices);
  return loaded;
}

Result<std::vector<Buffers>> Loaded::Execute(
    std::span<const std::vector<abi::Buffer*>> arguments) const {
  const std::size_t devices = arguments.size();
  std::vector<abi::Buffer*> made(devices * outputs_, nullptr);
  std::vector<abi::Buffer* const*> argument_lists(devices);
  std::vector<abi::Buffer**> output_lists(devices);
  for (std::size_t i = 0; i < devices; ++i) {
    argument_lists[i] = arguments[i].data();
    output_lists[i] = made.data() + i * outputs_;
  }
  pjrt::abi::ExecuteOptions options;
  pjrt::abi::LoadedExecutableExecuteArgs args;
  args.executable = object_.get();
  args.options = &options;
  args.argument_lists = argument_lists.data();
  args.num_devices = devices;
  args.num_args = arguments.front().size();
  args.output_lists = output_lists.data();
  MUSTER_TRY(plugin_->Call(args));
  std::vector<Buffers> results(devices);
  for (std::size_t i = 0; i < devices; ++i) {
    results[i].reserve(outputs_);
    for (std::size_t j = 0; j < outputs_; ++j) {
      results[i].emplace_back(*plugin_, made[i * outputs_ + j]);
    }
  }
  return results;
}

Result<Client> Client::Make(const Plugin& plugin, const Values& options) {
  const auto named = ToNamedValues(options);
  pjrt::abi::ClientCreateArgs create;
  create.create_options = named.data();
  create.num_options = named.size();
  MUSTER_TRY(plugin.Call(create));
  Client client(plugin, OwnedClient(plugin, create.client));
  pjrt::abi::ClientAddressableDevicesArgs all;
  all.client = client.object_.get();
  MUSTER_TRY(plugin.Call(all));
  client.devices_.assign(all.addressable_devices,
                         all.addressable_devices + all.num_addressable_devices);
  return client;
}

Result<std::string> Client::Platform() const {
  pjrt::abi::ClientPlatformNameArgs args;
  args.client = object_.get();
  MUSTER_TRY(plugin_->Call(args));
  return TextOf(args.platform_name, args.platform_name_size);
}

Result<std::string> Client::Version() const {
  pjrt::abi::ClientPlatformVersionArgs args;
  args.client = object_.get();
  MUSTER_TRY(plugin_->Call(args));
  return TextOf(args.platform_version, args.platform_version_size);
}

Result<std::vector<std::string>> Client::Kinds() const {
  std::vector<std::string> kinds;
  for (abi::Device* device : devices_) {
    pjrt::abi::DeviceGetDescriptionArgs args;
    args.device = device;
    MUSTER_TRY(plugin_->Call(args));
    pjrt::abi::DeviceDescriptionKindArgs kind;
    kind.device_description = args.device_description;
    MUSTER_TRY(plugin_->Call(kind));
    kinds.push_back(TextOf(kind.device_kind, kind.device_kind_size));
  }
  return kinds;
}

Result<Loaded> Client::Compile(std::string_view program,
                               const CompileOptions& options) const {
  const std::string bytes = Serialize(options);
  const pjrt::abi::Program code = ToProgram(program);
  pjrt::abi::ClientCompileArgs args;
  args.client = object_.get();
  args.program = &code;
  args.compile_options = bytes.data();
  args.compile_options_size = bytes.size();
  MUSTER_TRY(plugin_->Call(args));
  return Loaded::Make(*plugin_, OwnedLoaded(*plugin_, args.executable));
}

Result<Buffer> Client::Put(abi::Device* device,
                           const TensorView& tensor) const {
  pjrt::abi::ClientBufferFromHostBufferArgs args;
  args.client = object_.get();
  args.data = tensor.bytes.data();
  args.type = ElementTypeOf(tensor.spec.dtype);
  args.dims = tensor.spec.shape.data();
  args.num_dims = tensor.spec.shape.size();
  args.device = device;
  MUSTER_TRY(plugin_->Call(args));
  // Nothing is read after the call: the semantics asked for.
  const OwnedEvent done(*plugin_, args.done_with_host_buffer);
  return Buffer(*plugin_, args.buffer);
}

Result<std::string> Client::Get(const Buffer& buffer, const TensorSpec& spec,
                                Deadline deadline) const {
  std::vector<std::int64_t> last_first(spec.shape.size());
  std::iota(last_first.rbegin(), last_first.rend(), 0);
  pjrt::abi::MemoryLayout rows;
  rows.minor_to_major = last_first.data();
  rows.minor_to_major_size = last_first.size();
  pjrt::abi::BufferToHostBufferArgs args;
  args.src = buffer.get();
  args.host_layout = &rows;
  return Copy(args, BytesOf(spec).value_or(0), deadline);
}

Result<float> Client::GetNumber(const Buffer& buffer, Deadline deadline) const {
  pjrt::abi::BufferToHostBufferArgs args;
  args.src = buffer.get();
  float number = 0;
  MUSTER_ASSIGN(const std::string bytes, Copy(args, sizeof number, deadline));
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

Result<std::string> Client::Copy(pjrt::abi::BufferToHostBufferArgs args,
                                 std::size_t size, Deadline deadline) const {
  const auto signal = std::make_shared<Signal>(*plugin_);
  signal->bytes.resize(size);
  args.dst = signal->bytes.data();
  args.dst_size = size;
  MUSTER_TRY(plugin_->Call(args));
  MUSTER_TRY(Wait(*plugin_, args.event, signal, deadline));
  return std::move(signal->bytes);
}

}  // namespace muster::pjrt
