// SPDX-License-Identifier: Apache-2.0
#include "accelerator/table.h"

#include <algorithm>

namespace muster::accelerator {
namespace {

// GiB that a program sees, less its context.
constexpr std::int64_t Gpu(double gib) {
  return static_cast<std::int64_t>((gib - 0.5) * (1 << 30));
}

// Where the figures are from, unless a line says otherwise:
// - memory of TPUs: device_memory_bytes_limit of libtpu 0.0.52
// - memory of GPUs: public reports of PyTorch's "total capacity", or of the
//   memory that YOLO prints (P100, A6000, A100 40 GB); docs/reference/fit.md
//   says by how much they vary
// - flops, bandwidth, cores: jax/_src/tpu_info.py; the larger where Cloud TPU's
//   pages have another
// - PCI ids: jax/_src/hardware_utils.py; v2's subsystem: tpu-info
// - api_type, runtime_version, TensorFlow: Cloud TPU's page of versions
// - shapes and their devices: libtpu 0.0.52. It compiles for each core of v4.
constexpr std::array<Specs, 23> kTable{
    {{.name = "v2",
      .kind = "TPU v2",
      .memory = 8'034'172'928,
      .devices_per_chip = 2,
      .flops = 46e12,
      .bandwidth = 716e9,
      .tpu = TpuSpecs{.api_type = "v2",
                      .pci_device = "0x0027",
                      .pci_subsystem = "0x004e",
                      .dimensions = 2,
                      .shapes = {{{"2x2", 8}}},
                      .runtime_version = "tpu-ubuntu2204-base"}},
     {.name = "t4", .kind = "T4", .memory = Gpu(14.56)},
     {.name = "p100",
      .kind = "P100-PCIE-16GB|P100-SXM2-16GB",
      .memory = Gpu(15.89)},
     {.name = "v100-16g",
      .kind = "V100-SXM2-16GB|V100-PCIE-16GB",
      .memory = Gpu(15.77)},
     {.name = "v3",
      .kind = "TPU v3",
      .memory = 16'624'107'520,
      .devices_per_chip = 2,
      .flops = 140e12,
      .bandwidth = 900e9,  // Cloud TPU's page of v3; JAX has 825e9
      .tpu = TpuSpecs{.api_type = "v3",
                      .pci_device = "0x0027",
                      .dimensions = 2,
                      .shapes = {{{"2x2", 8}, {"4x4", 32}}},
                      .runtime_version = "tpu-ubuntu2204-base"}},
     {.name = "v5e",
      .kind = "TPU v5e",
      .memory = 16'909'332'480,
      .flops = 197e12,
      .bandwidth = 820e9,
      .tpu = TpuSpecs{.api_type = "v5litepod",
                      .pci_device = "0x0063",
                      .cores_per_chip = 1,
                      .max_chips_per_host = 8,
                      .dimensions = 2,
                      .shapes = {{{"1x1", 1}, {"2x4", 8}, {"4x4", 16}}},
                      .runtime_version = "v2-alpha-tpuv5-lite",
                      .pjrt_since = {2, 15, 0}}},
     {.name = "l4", .kind = "L4", .memory = Gpu(22.03)},
     {.name = "a10g", .kind = "A10G|A10", .memory = Gpu(22.06)},
     {.name = "rtx-3090", .kind = "RTX 3090", .memory = Gpu(23.69)},
     {.name = "rtx-4090", .kind = "RTX 4090", .memory = Gpu(23.65)},
     {.name = "v4",
      .kind = "TPU v4",
      .memory = 32'745'971'712,
      .flops = 275e12,
      .bandwidth = 1230e9,
      .tpu = TpuSpecs{.api_type = "v4",
                      .pci_device = "0x005e",
                      .shapes = {{{"2x2x1", 8}, {"2x2x2", 16}}},
                      .runtime_version = "tpu-ubuntu2204-base",
                      .own_images_before = {2, 10, 1}}},
     {.name = "v6e",
      .kind = "TPU v6e",
      .memory = 33'546'039'296,
      .flops = 920e12,
      .bandwidth = 1640e9,
      .tpu = TpuSpecs{.api_type = "v6e",
                      .pci_device = "0x006f",
                      .cores_per_chip = 1,
                      .max_chips_per_host = 8,
                      .dimensions = 2,
                      .shapes = {{{"1x1", 1}, {"2x4", 8}, {"4x4", 16}}},
                      .runtime_version = "v2-alpha-tpuv6e",
                      .pjrt_since = {2, 15, 0}}},
     {.name = "v100-32g",
      .kind = "V100-SXM2-32GB|V100-PCIE-32GB|V100S-PCIE-32GB|V100-SXM3-32GB",
      .memory = Gpu(31.74)},
     {.name = "a100-40g",
      .kind = "A100-SXM4-40GB|A100-PCIE-40GB",
      .memory = Gpu(39.39)},
     {.name = "l40s", .kind = "L40S", .memory = Gpu(44.39)},
     {.name = "a6000", .kind = "RTX A6000", .memory = Gpu(47.53)},
     {.name = "h100", .kind = "H100", .memory = Gpu(79.11)},
     {.name = "a100-80g",
      .kind = "A100-SXM4-80GB|A100 80GB PCIe",
      .memory = Gpu(79.15)},
     {.name = "h100-nvl", .kind = "H100 NVL", .memory = Gpu(93.0)},
     {.name = "tpu7x",
      .kind = "TPU 7x",
      .memory = 101'724'450'816,
      .devices_per_chip = 2,
      .flops = 2310e12,
      .bandwidth = 7400e9,
      .tpu = TpuSpecs{.pci_device = "0x0076",
                      .shapes = {{{"1x1x1", 2}, {"2x2x1", 8}}}}},
     {.name = "v5p",
      .kind = "TPU v5p",
      .memory = 102'786'660'352,
      .flops = 459e12,
      .bandwidth = 2765e9,  // Cloud TPU's page of v5p; JAX has 2460e9
      .tpu = TpuSpecs{.api_type = "v5p",
                      .alias = "v5",
                      .pci_device = "0x0062",
                      .shapes = {{{"2x2x1", 4}, {"2x2x2", 8}}},
                      .runtime_version = "v2-alpha-tpuv5",
                      .pjrt_since = {2, 15, 0}}},
     {.name = "h200", .kind = "H200", .memory = Gpu(139.8)},
     {.name = "b200", .kind = "B200", .memory = Gpu(178.35)}}};

template <typename Predicate>
const Specs* FindIf(Predicate predicate) {
  const auto* const found =
      std::find_if(kTable.begin(), kTable.end(), predicate);
  return found == kTable.end() ? nullptr : found;
}

}  // namespace

std::span<const Specs> AllSpecs() {
  return kTable;
}

const Specs* FindSpecs(std::string_view name) {
  const Specs* tpu = FindApiType(name);
  return tpu != nullptr
             ? tpu
             : FindIf([&](const Specs& one) { return one.name == name; });
}

const Specs* FindApiType(std::string_view type) {
  return FindIf([&](const Specs& one) {
    return !type.empty() && one.tpu && one.tpu->api_type == type;
  });
}

const Specs* FindTopology(std::string_view generation) {
  return FindIf([&](const Specs& one) {
    return !generation.empty() && one.tpu &&
           (one.name == generation || one.tpu->alias == generation);
  });
}

}  // namespace muster::accelerator
