// SPDX-License-Identifier: Apache-2.0
// Accelerators of this machine by their device files and their entries on the
// PCI bus; none of them is opened. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "accelerator/table.h"
#include "sys/file/fs.h"

namespace muster::accelerator {

// What libtpu locks while it has the chips of a host.
inline constexpr char kTpuLock[] = "/tmp/libtpu_lockfile";

// Paths in `folder` whose names are `prefix` and a number: "/dev", "nvidia".
std::vector<std::string> NumberedFiles(const sys::Fs& fs,
                                       const std::string& folder,
                                       std::string_view prefix);

struct PciDevice {
  std::string vendor, device, kind;  // "0x1ae0", "0x0063", "0x030200"
  std::string subsystem;             // "0x004e"
  std::string address;               // "0000:00:05.0"
};
// nullopt: no bus is visible.
std::optional<std::vector<PciDevice>> PciDevices(const sys::Fs& fs);

// A chip of Google's; nullptr: it is none. Their network cards have the same
// vendor.
const Specs* TpuByPci(const PciDevice& device);
// A display or 3D controller of NVIDIA; their sound is another function.
bool IsNvidiaGpu(const PciDevice& device);

// A chip or GPU. What no file shows is empty.
struct LocalAccelerator {
  std::string path;     // "/dev/accel0"; empty: on the bus, without a file
  std::string kind;     // "TPU v5e", "NVIDIA A100-SXM4-40GB"
  std::string address;  // on the PCI bus
  std::string driver;   // "vfio-pci"
};
// Those of the bus and of /dev, each once; in the order of their files, those
// without a file last.
std::vector<LocalAccelerator> FindAccelerators(const sys::Fs& fs);

// The version of NVIDIA's kernel module, "535.104.05"; empty: there is none, or
// it does not say.
std::string NvidiaModuleVersion(const sys::Fs& fs);

}  // namespace muster::accelerator
