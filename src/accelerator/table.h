// SPDX-License-Identifier: Apache-2.0
// The one table of TPU generations and GPUs, a row each in table.cc; whoever
// needs a fact of an accelerator asks it here. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace muster::accelerator {

// A topology that libtpu compiles for.
struct TpuShape {
  std::string_view chips;  // "2x4"
  int devices = 0;         // as the compiler counts them
};

using TensorFlowRelease = std::array<std::int64_t, 3>;  // 2, 17, 0

// What only TPUs have.
struct TpuSpecs {
  // Of the Cloud TPU API, "v5litepod" of "v5litepod-8"; empty: that API does
  // not serve it.
  std::string_view api_type;
  std::string_view alias;  // a second name in topologies: "v5" of "v5:2x2x1"
  std::string_view pci_device;     // "0x0063", of vendor 0x1ae0
  std::string_view pci_subsystem;  // "0x004e"; empty: any other
  int cores_per_chip = 2;          // TensorCores
  int chips_per_host = 4;          // in a slice of several hosts
  int max_chips_per_host = 4;
  int dimensions = 3;  // sides of a topology
  // From small to large; the rest of the array is empty.
  std::array<TpuShape, 3> shapes{};
  std::string_view runtime_version;  // for PyTorch and JAX
  // The first TensorFlow that knows the chip, in images with `-pjrt`; zeros:
  // all know it, in images without.
  TensorFlowRelease pjrt_since{};
  // Before it, images for the generation have its name: `-v4`; zeros: never.
  TensorFlowRelease own_images_before{};
};

struct Specs {
  std::string_view name;  // "v5e", "a100-40g"
  // What the device calls itself, or words of it; several with bars:
  // "A100-SXM4-40GB|A100-PCIE-40GB".
  std::string_view kind;
  std::int64_t memory = 0;   // bytes that a program has of one device
  int devices_per_chip = 1;  // that a framework sees
  // Of a chip in a second, at most: operations in bf16, and bytes to and from
  // its memory. 0: not known here.
  double flops = 0, bandwidth = 0;
  std::optional<TpuSpecs> tpu = std::nullopt;  // nullopt: a GPU
};

// From little memory to much.
std::span<const Specs> AllSpecs();

// By name or by type of the Cloud TPU API: "v5e", "v5litepod", "h100". nullptr:
// it is not in the table, here and below.
const Specs* FindSpecs(std::string_view name);
// A TPU, by type of the Cloud TPU API: "v5litepod".
const Specs* FindApiType(std::string_view type);
// A TPU, by the name that a topology begins with: "v5e", "v5p", "v5".
const Specs* FindTopology(std::string_view generation);

}  // namespace muster::accelerator
