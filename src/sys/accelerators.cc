// SPDX-License-Identifier: Apache-2.0
#include "sys/accelerators.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace muster::sys {
namespace {

constexpr std::string_view kGoogle = "0x1ae0";
constexpr std::string_view kNvidia = "0x10de";
constexpr std::string_view kSubsystemOfV2 = "0x004e";

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kChips{
    {{"0x0027", "v3"},
     {"0x005e", "v4"},
     {"0x0062", "v5p"},
     {"0x0063", "v5e"},
     {"0x006f", "v6e"},
     {"0x0076", "7x"}}};

std::string Word(const Fs& fs, const std::string& path) {
  constexpr std::size_t kLongest = 64;
  return std::string(Trim(fs.Read(path, kLongest).value_or("")));
}

}  // namespace

std::vector<std::string> NumberedFiles(const Fs& fs, const std::string& folder,
                                       std::string_view prefix) {
  std::vector<std::string> paths;
  for (const std::string& name :
       fs.List(folder).value_or(std::vector<std::string>())) {
    if (name.starts_with(prefix) &&
        IsDigits(std::string_view(name).substr(prefix.size()))) {
      paths.push_back(JoinPath(folder, name));
    }
  }
  return paths;
}

std::optional<std::vector<PciDevice>> PciDevices(const Fs& fs) {
  const std::string folder = "/sys/bus/pci/devices";
  const auto names = fs.List(folder);
  if (!names) {
    return std::nullopt;
  }
  std::vector<PciDevice> devices;
  devices.reserve(names->size());
  for (const std::string& name : *names) {
    const std::string place = JoinPath(folder, name);
    devices.push_back({.vendor = Word(fs, place + "/vendor"),
                       .device = Word(fs, place + "/device"),
                       .kind = Word(fs, place + "/class"),
                       .subsystem = Word(fs, place + "/subsystem_device")});
  }
  return devices;
}

std::string_view TpuGeneration(const PciDevice& device) {
  const auto* const chip = std::find_if(
      kChips.begin(), kChips.end(),
      [&](const auto& known) { return known.first == device.device; });
  if (device.vendor != kGoogle || chip == kChips.end()) {
    return "";
  }
  return chip->second == "v3" && device.subsystem == kSubsystemOfV2
             ? "v2"
             : chip->second;
}

bool IsNvidiaGpu(const PciDevice& device) {
  return device.vendor == kNvidia && (device.kind.starts_with("0x0300") ||
                                      device.kind.starts_with("0x0302"));
}

}  // namespace muster::sys
