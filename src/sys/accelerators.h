// SPDX-License-Identifier: Apache-2.0
// Accelerators of this machine by their device files and their entries on the
// PCI bus; none of them is opened. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sys/fs.h"

namespace muster::sys {

// Paths in `folder` whose names are `prefix` and a number: "/dev", "nvidia".
std::vector<std::string> NumberedFiles(const Fs& fs, const std::string& folder,
                                       std::string_view prefix);

struct PciDevice {
  std::string vendor, device, kind;  // "0x1ae0", "0x0063", "0x030200"
  std::string subsystem;             // "0x004e"
};
// nullopt: there is no bus to look at.
std::optional<std::vector<PciDevice>> PciDevices(const Fs& fs);

// "v5e" of a chip of Google's; empty: it is none. Their network cards have the
// same vendor.
std::string_view TpuGeneration(const PciDevice& device);
// A display or 3D controller of NVIDIA; their sound is another function.
bool IsNvidiaGpu(const PciDevice& device);

}  // namespace muster::sys
