// SPDX-License-Identifier: Apache-2.0
// A PJRT plug-in and what it makes without a device. What it makes with one is
// in pjrt/client.h.
//
// A plug-in may hang, end the process or take a lock: whoever only asks calls
// all of this in a child (pjrt/compile.h). One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "muster/error.h"
#include "pjrt/plugin/abi.h"
#include "sys/library.h"

namespace muster::pjrt {

// StableHLO as the interface takes it; a view into `code`.
pjrt::abi::Program ToProgram(std::string_view code);

using Value = std::variant<std::string, std::int64_t, std::vector<std::int64_t>,
                           float, bool>;
using Values = std::map<std::string, Value>;

class Plugin;

// An object of a plug-in, given back to it at the end. The plug-in outlives it.
template <typename Object, typename DestroyArgs>
class Owned {
 public:
  Owned(const Plugin& plugin, Object* object)
      : plugin_(&plugin), object_(object) {}
  Owned(Owned&& other) noexcept
      : plugin_(other.plugin_),
        object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(plugin_, other.plugin_);
    std::swap(object_, other.object_);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned();

  Object* get() const { return object_; }

 private:
  const Plugin* plugin_;
  Object* object_;
};
using OwnedTopology = Owned<abi::Topology, pjrt::abi::TopologyDestroyArgs>;
using OwnedExecutable =
    Owned<abi::Executable, pjrt::abi::ExecutableDestroyArgs>;

// Bytes of one device.
struct Memory {
  std::int64_t code = 0, arguments = 0, outputs = 0, alias = 0, temporaries = 0;
  std::optional<std::int64_t> peak;  // absent in plug-ins before API 0.72
};

class Executable {
 public:
  Executable(const Plugin& plugin, OwnedExecutable object)
      : plugin_(&plugin), object_(std::move(object)) {}

  Result<std::size_t> Replicas() const;
  Result<std::size_t> Partitions() const;
  Result<Memory> MemoryOfADevice() const;
  // "flops", "bytes accessed" and others; below zero means not known.
  Result<Values> Cost() const;
  // The program as the compiler left it: the bytes of an
  // HloModuleProtoWithConfig. ver-plugin-mismatch: of another format, or larger
  // than 1 GiB.
  Result<std::string> OptimizedProgram() const;

 private:
  const Plugin* plugin_;
  OwnedExecutable object_;
};

class Topology {
 public:
  Topology(const Plugin& plugin, OwnedTopology object)
      : plugin_(&plugin), object_(std::move(object)) {}

  struct Device {
    std::string kind;
    Values attributes;
  };
  Result<std::vector<Device>> Devices() const;

  // `options`: the bytes of a CompileOptionsProto.
  Result<Executable> Compile(std::string_view program,
                             std::string_view options) const;

 private:
  const Plugin* plugin_;
  OwnedTopology object_;
};

class Plugin {
 public:
  // Loads and initializes it: at most once per process and file.
  // ver-plugin-mismatch: no GetPjrtApi, or an API of another major number or
  // older than 0.40; ver-abi, file-missing, file-corrupt: see sys::Library.
  static Result<Plugin> Load(const std::string& path);

  pjrt::abi::Version version() const { return api_->version; }
  // "stablehlo_current_version" and others.
  Result<Values> Attributes() const;
  Result<Topology> MakeTopology(std::string_view name) const;

  // Reads an error of the plug-in, and gives it back to be destroyed. `call`:
  // where it came from.
  Error Take(std::string_view call, abi::PluginError* error) const;

  // Calls the plug-in; outputs are in `args`. ver-plugin-mismatch where its
  // table has no such function; else what the plug-in's error says.
  template <typename Args>
  Status Call(Args& args) const {
    // Room for fields of a plug-in newer than these declarations: they are
    // zero, which means absent.
    struct {
      Args args;
      std::byte tail[256];
    } room{args, {}};
    Status status = CallSlot({Args::kName, Args::kSlot}, &room, sizeof room);
    args = room.args;
    return status;
  }

 private:
  struct Entry {
    std::string_view name;
    std::size_t slot;
  };
  explicit Plugin(const pjrt::abi::Api* api) : api_(api) {}
  struct Found {
    pjrt::abi::Function call = nullptr;
  };
  Result<Found> Find(Entry entry) const;
  Status CallSlot(Entry entry, void* args, std::size_t room) const;

  const pjrt::abi::Api* api_;
};

template <typename Object, typename DestroyArgs>
Owned<Object, DestroyArgs>::~Owned() {
  if (object_ == nullptr) {
    return;
  }
  DestroyArgs args;
  args.object() = object_;
  // What fails at the end is of no use to anybody.
  static_cast<void>(plugin_->Call(args).has_value());
}

}  // namespace muster::pjrt
