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

int CountGpus(const sys::Host& host) {
  const auto files =
      static_cast<int>(NumberedFiles(host.fs, "/dev", "nvidia").size());
  const auto visible = host.env.Get("CUDA_VISIBLE_DEVICES");
  if (!visible) {
    return files;
  }
  // As CUDA reads it: up to the first that names no device ("-1").
  int listed = 0;
  for (const std::string& one : Split(*visible, ',')) {
    const std::string_view name = Trim(one);
    if (!IsDigits(name) && !name.starts_with("GPU-") &&
        !name.starts_with("MIG-")) {
      break;
    }
    ++listed;
  }
  return listed;
}

}  // namespace muster::accelerator
