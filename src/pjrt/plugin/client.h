// SPDX-License-Identifier: Apache-2.0
// The devices that a plug-in opens, programs loaded onto them and arrays that
// lie there. All of it must end before the Plugin. One thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/checkpoint.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "pjrt/plugin/abi.h"
#include "pjrt/plugin/options.h"
#include "pjrt/plugin/plugin.h"

namespace muster::pjrt {

using OwnedClient = Owned<abi::Client, pjrt::abi::ClientDestroyArgs>;
using OwnedLoaded =
    Owned<abi::LoadedExecutable, pjrt::abi::LoadedExecutableDestroyArgs>;
// An array on a device.
using Buffer = Owned<abi::Buffer, pjrt::abi::BufferDestroyArgs>;
// The arguments or results of one device.
using Buffers = std::vector<Buffer>;

// What a plug-in calls an element type. All of muster's have one.
pjrt::abi::ElementType ElementTypeOf(DType dtype);

// A program on the devices that it was compiled for.
class Loaded {
 public:
  static Result<Loaded> Make(const Plugin& plugin, OwnedLoaded object);

  std::size_t outputs() const { return outputs_; }
  // One for each replica and partition, in the order in which Execute takes
  // their arguments.
  std::span<abi::Device* const> devices() const { return devices_; }

  // Starts it on all its devices: arguments by device, results by device. The
  // results may not be made yet, and an error may come only when one is read.
  // Arguments that the program gives its results the place of are void after
  // it, and still to be destroyed.
  Result<std::vector<Buffers>> Execute(
      std::span<const std::vector<abi::Buffer*>> arguments) const;

 private:
  Loaded(const Plugin& plugin, OwnedLoaded object)
      : plugin_(&plugin), object_(std::move(object)) {}

  const Plugin* plugin_;
  OwnedLoaded object_;
  std::size_t outputs_ = 0;
  std::vector<abi::Device*> devices_;
};

class Client {
 public:
  // Opens the devices, which nobody else can use until it ends.
  static Result<Client> Make(const Plugin& plugin, const Values& options);

  std::size_t devices() const { return devices_.size(); }
  // "tpu", and what it says of its version, lines and all.
  Result<std::string> Platform() const;
  Result<std::string> Version() const;
  // "TPU v5 lite", of each device.
  Result<std::vector<std::string>> Kinds() const;

  Result<Loaded> Compile(std::string_view program,
                         const CompileOptions& options) const;
  // Copies it; `tensor` is free again on return.
  Result<Buffer> Put(abi::Device* device, const TensorView& tensor) const;
  // The bytes of an array, row after row, once it has been made.
  // deadline-exceeded, and what the programs that make it failed with.
  Result<std::string> Get(const Buffer& buffer, const TensorSpec& spec,
                          Deadline deadline) const;
  // The same of one F32.
  Result<float> GetNumber(const Buffer& buffer, Deadline deadline) const;

 private:
  Client(const Plugin& plugin, OwnedClient object)
      : plugin_(&plugin), object_(std::move(object)) {}

  Result<std::string> Copy(pjrt::abi::BufferToHostBufferArgs args,
                           std::size_t size, Deadline deadline) const;

  const Plugin* plugin_;
  OwnedClient object_;
  std::vector<abi::Device*> devices_;
};

}  // namespace muster::pjrt
