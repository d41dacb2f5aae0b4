// SPDX-License-Identifier: Apache-2.0
#include "resolve/local_tpu.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace muster::resolve {
namespace {

bool IsNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c >= '0' && c <= '9';
  });
}

int CountNumbered(const sys::Fs& fs, const std::string& folder,
                  std::string_view prefix) {
  const auto names = fs.List(folder);
  if (!names) {
    return 0;
  }
  return static_cast<int>(
      std::count_if(names->begin(), names->end(), [&](const auto& name) {
        return name.starts_with(prefix) &&
               IsNumber(std::string_view(name).substr(prefix.size()));
      }));
}

// Ids of Google's chips: one entry for each chip.
const std::map<std::string, std::string>& PciDevices() {
  static const std::map<std::string, std::string> devices{
      {"0x0027", "v3"},  {"0x005e", "v4"},  {"0x0062", "v5p"},
      {"0x0063", "v5e"}, {"0x006f", "v6e"}, {"0x0076", "7x"}};
  return devices;
}

void LookAtPci(const sys::Fs& fs, LocalTpu& found) {
  const std::string folder = "/sys/bus/pci/devices";
  const auto names = fs.List(folder);
  if (!names) {
    return;
  }
  int chips = 0;
  for (const std::string& name : *names) {
    const std::string place = sys::JoinPath(folder, name);
    const auto vendor = fs.Read(place + "/vendor", 64);
    const auto device = fs.Read(place + "/device", 64);
    if (!vendor || !device || Trim(*vendor) != "0x1ae0") {
      continue;
    }
    const auto known = PciDevices().find(std::string(Trim(*device)));
    if (known != PciDevices().end()) {
      ++chips;
      found.generation = known->second;
      const auto subsystem = fs.Read(place + "/subsystem_device", 64);
      if (known->second == "v3" && subsystem && Trim(*subsystem) == "0x004e") {
        found.generation = "v2";
      }
    }
  }
  found.looked.push_back(folder + ": " + Count(chips, "TPU chip"));
  if (chips == 0 && !names->empty() && found.source == "/dev/vfio/N") {
    // Other devices are passed through as well.
    found.chips = 0;
    found.source.clear();
  }
  if (found.chips == 0 && chips > 0) {
    found.chips = chips;
    found.source = folder;
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
                             Place{"/dev/vfio", "", "/dev/vfio/N"}}) {
    const int chips = CountNumbered(host.fs, place.folder, place.prefix);
    found.looked.push_back(std::string(place.text) + ": " +
                           std::to_string(chips));
    if (found.chips == 0 && chips > 0) {
      found.chips = chips;
      found.source = place.text;
    }
  }
  LookAtPci(host.fs, found);
  return found;
}

int CountGpus(const sys::Host& host) {
  const int files = CountNumbered(host.fs, "/dev", "nvidia");
  const auto visible = host.env.Get("CUDA_VISIBLE_DEVICES");
  if (!visible) {
    return files;
  }
  const auto listed =
      static_cast<int>(std::count(visible->begin(), visible->end(), ',') + 1);
  return Trim(*visible).empty() ? 0 : listed;
}

}  // namespace muster::resolve
