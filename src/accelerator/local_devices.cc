// SPDX-License-Identifier: Apache-2.0
#include "accelerator/local_devices.h"

#include <algorithm>

#include "accelerator/device_files.h"
#include "base/text.h"

namespace muster::accelerator {
namespace {

constexpr const char* kVfio = "/dev/vfio/N";

void ProbePci(const sys::Fs& fs, LocalTpu& found) {
  const auto devices = PciDevices(fs);
  if (!devices) {
    return;
  }
  const auto chips = static_cast<int>(std::count_if(
      devices->begin(), devices->end(),
      [](const PciDevice& device) { return TpuByPci(device) != nullptr; }));
  constexpr const char* kFolder = "/sys/bus/pci/devices";
  found.probed.push_back(std::string(kFolder) + ": " +
                         Count(chips, "TPU chip"));
  if (chips == 0 && !devices->empty() && found.source == kVfio) {
    // Other devices are passed through as well.
    found.chips = 0;
    found.source.clear();
  }
  if (found.chips == 0 && chips > 0) {
    found.chips = chips;
    found.source = kFolder;
  }
}

}  // namespace

LocalTpu FindLocalTpu(const sys::Host& host) {
  LocalTpu found;
  struct Place {
    const char* folder;
    const char* prefix;
    const char* text;
  };
  for (const Place& place : {Place{"/dev", "accel", "/dev/accel*"},
                             Place{"/dev/accel", "accel", "/dev/accel/accel*"},
                             Place{"/dev/vfio", "", kVfio}}) {
    const auto chips = static_cast<int>(
        NumberedFiles(host.fs, place.folder, place.prefix).size());
    found.probed.push_back(std::string(place.text) + ": " +
                           std::to_string(chips));
    if (found.chips == 0 && chips > 0) {
      found.chips = chips;
      found.source = place.text;
    }
  }
  ProbePci(host.fs, found);
  return found;
}

namespace {

// As CUDA reads its list: up to the first that names no device ("-1").
int CountListed(const std::string& list) {
  int listed = 0;
  for (const std::string& one : Split(list, ',')) {
    const std::string_view name = Trim(one);
    if (!IsDigits(name) && !name.starts_with("GPU-") &&
        !name.starts_with("MIG-")) {
      break;
    }
    ++listed;
  }
  return listed;
}

// Nodes of the driver's topology that have compute units: the others are CPUs.
int CountAmdGpus(const sys::Fs& fs) {
  constexpr const char* kNodes = "/sys/class/kfd/kfd/topology/nodes";
  int gpus = 0;
  const auto names = fs.List(kNodes);
  if (!names) {
    return 0;
  }
  for (const std::string& name : *names) {
    const auto text = fs.Read(
        sys::JoinPath(sys::JoinPath(kNodes, name), "properties"), 1U << 16);
    for (const std::string& line :
         text ? Split(*text, '\n') : std::vector<std::string>()) {
      const auto words = Split(line, ' ');
      gpus += words.size() == 2 && words[0] == "simd_count" && words[1] != "0";
    }
  }
  return gpus;
}

LocalDevices FindGpus(const sys::Host& host) {
  LocalDevices gpus{.count = static_cast<int>(
                        NumberedFiles(host.fs, "/dev", "nvidia").size()),
                    .variable = "CUDA_VISIBLE_DEVICES"};
  if (gpus.count == 0) {
    if (const int amd = CountAmdGpus(host.fs); amd > 0) {
      gpus = {.count = amd, .variable = "ROCR_VISIBLE_DEVICES"};
    }
  }
  if (const auto visible = host.env.Get(gpus.variable)) {
    gpus.count = CountListed(*visible);
  }
  return gpus;
}

}  // namespace

int CountGpus(const sys::Host& host) {
  return FindGpus(host).count;
}

LocalDevices FindLocalDevices(const sys::Host& host) {
  if (LocalDevices gpus = FindGpus(host); gpus.count > 0) {
    return gpus;
  }
  const int chips = FindLocalTpu(host).chips;
  return chips > 0 ? LocalDevices{chips, "TPU_VISIBLE_CHIPS"} : LocalDevices();
}

}  // namespace muster::accelerator
