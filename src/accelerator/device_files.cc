// SPDX-License-Identifier: Apache-2.0
#include "accelerator/device_files.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace muster::accelerator {
namespace {

constexpr std::string_view kGoogle = "0x1ae0";
constexpr std::string_view kNvidia = "0x10de";

std::string Word(const sys::Fs& fs, const std::string& path) {
  constexpr std::size_t kLongest = 64;
  return std::string(Trim(fs.Read(path, kLongest).value_or("")));
}

constexpr char kPci[] = "/sys/bus/pci/devices";

// The driver that lists the device as its own.
std::string DriverOf(const sys::Fs& fs, const std::string& address) {
  const std::string folder = "/sys/bus/pci/drivers";
  for (const std::string& driver :
       fs.List(folder).value_or(std::vector<std::string>())) {
    if (fs.Exists(sys::JoinPath(sys::JoinPath(folder, driver), address))) {
      return driver;
    }
  }
  return "";
}

// The number N of /dev/vfio/N that the device is reached by.
std::string VfioGroupOf(const sys::Fs& fs, const std::string& address) {
  const std::string folder = "/sys/kernel/iommu_groups/";
  for (const std::string& group :
       fs.List(folder).value_or(std::vector<std::string>())) {
    std::string device = folder;
    if (fs.Exists(device.append(group).append("/devices/").append(address))) {
      return group;
    }
  }
  return "";
}

std::string TpuFileOf(const sys::Fs& fs, const std::string& address) {
  const auto names = fs.List(sys::JoinPath(kPci, address) + "/accel");
  const std::string path = names && !names->empty()
                               ? sys::JoinPath("/dev", names->front())
                               : "/dev/vfio/" + VfioGroupOf(fs, address);
  return fs.Exists(path) && !path.ends_with('/') ? path : "";
}

// The value of "Model: NVIDIA H100 80GB HBM3" in what the driver says of a GPU.
std::string DriverField(std::string_view text, std::string_view name) {
  for (const std::string& line : Split(text, '\n')) {
    if (line.starts_with(name) && line.size() > name.size() &&
        line[name.size()] == ':') {
      return std::string(Trim(std::string_view(line).substr(name.size() + 1)));
    }
  }
  return "";
}

LocalAccelerator GpuAt(const sys::Fs& fs, const std::string& address) {
  const std::string text =
      fs.Read("/proc/driver/nvidia/gpus/" + address + "/information")
          .value_or("");
  const std::string minor = DriverField(text, "Device Minor");
  const std::string path = "/dev/nvidia" + minor;
  return {.path = !minor.empty() && fs.Exists(path) ? path : "",
          .kind = DriverField(text, "Model"),
          .address = address,
          .driver = DriverOf(fs, address)};
}

bool IsTpu(const LocalAccelerator& one) {
  return one.kind.starts_with("TPU");
}

bool Has(const std::vector<LocalAccelerator>& found, const std::string& path) {
  return std::any_of(
      found.begin(), found.end(),
      [&](const LocalAccelerator& one) { return one.path == path; });
}

// Files that no device of the bus claimed. They are those devices that have no
// file yet; a container may hide the bus.
void AddFiles(std::vector<std::string> paths, const LocalAccelerator& like,
              std::vector<LocalAccelerator>& found) {
  std::erase_if(paths,
                [&](const std::string& path) { return Has(found, path); });
  std::vector<std::size_t> without;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].path.empty() && IsTpu(found[i]) == IsTpu(like)) {
      without.push_back(i);
    }
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    LocalAccelerator& one =
        i < without.size() ? found[without[i]] : found.emplace_back(like);
    one.path = paths[i];
    if (without.size() != paths.size()) {
      one.address.clear();  // which of them it is, is not known
    }
  }
}

}  // namespace

std::vector<std::string> NumberedFiles(const sys::Fs& fs,
                                       const std::string& folder,
                                       std::string_view prefix) {
  std::vector<std::string> paths;
  for (const std::string& name :
       fs.List(folder).value_or(std::vector<std::string>())) {
    if (name.starts_with(prefix) &&
        IsDigits(std::string_view(name).substr(prefix.size()))) {
      paths.push_back(sys::JoinPath(folder, name));
    }
  }
  return paths;
}

std::optional<std::vector<PciDevice>> PciDevices(const sys::Fs& fs) {
  const std::string folder = kPci;
  const auto names = fs.List(folder);
  if (!names) {
    return std::nullopt;
  }
  std::vector<PciDevice> devices;
  devices.reserve(names->size());
  for (const std::string& name : *names) {
    const std::string place = sys::JoinPath(folder, name);
    devices.push_back({.vendor = Word(fs, place + "/vendor"),
                       .device = Word(fs, place + "/device"),
                       .kind = Word(fs, place + "/class"),
                       .subsystem = Word(fs, place + "/subsystem_device"),
                       .address = name});
  }
  return devices;
}

const Specs* TpuByPci(const PciDevice& device) {
  const auto specs = AllSpecs();
  const auto found =
      std::find_if(specs.begin(), specs.end(), [&](const Specs& one) {
        return one.tpu && one.tpu->pci_device == device.device &&
               (one.tpu->pci_subsystem.empty() ||
                one.tpu->pci_subsystem == device.subsystem);
      });
  return device.vendor != kGoogle || found == specs.end() ? nullptr : &*found;
}

bool IsNvidiaGpu(const PciDevice& device) {
  return device.vendor == kNvidia && (device.kind.starts_with("0x0300") ||
                                      device.kind.starts_with("0x0302"));
}

std::vector<LocalAccelerator> FindAccelerators(const sys::Fs& fs) {
  std::vector<LocalAccelerator> found;
  LocalAccelerator tpu{.kind = "TPU"};
  for (const PciDevice& device :
       PciDevices(fs).value_or(std::vector<PciDevice>())) {
    LocalAccelerator one;
    if (const Specs* specs = TpuByPci(device); specs != nullptr) {
      one = {.path = TpuFileOf(fs, device.address),
             .kind = std::string(specs->kind),
             .address = device.address,
             .driver = DriverOf(fs, device.address)};
      tpu.kind = one.kind;
    } else if (IsNvidiaGpu(device)) {
      one = GpuAt(fs, device.address);
    }
    // A 7x chip is two devices of the bus and one file.
    if (!one.address.empty() && (one.path.empty() || !Has(found, one.path))) {
      found.push_back(std::move(one));
    }
  }
  auto tpus = NumberedFiles(fs, "/dev", "accel");
  if (tpus.empty() && tpu.kind != "TPU") {
    tpus = NumberedFiles(fs, "/dev/vfio", "");
  }
  AddFiles(std::move(tpus), tpu, found);
  AddFiles(NumberedFiles(fs, "/dev", "nvidia"), {.kind = "NVIDIA GPU"}, found);
  std::stable_sort(found.begin(), found.end(),
                   [](const LocalAccelerator& a, const LocalAccelerator& b) {
                     const auto key = [](const LocalAccelerator& one) {
                       return std::tuple(one.path.empty(), one.path.size(),
                                         std::string_view(one.path));
                     };
                     return key(a) < key(b);
                   });
  return found;
}

// NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 …
std::string NvidiaModuleVersion(const sys::Fs& fs) {
  const std::string text = fs.Read("/proc/driver/nvidia/version").value_or("");
  for (const std::string& word : Split(text.substr(0, text.find('\n')), ' ')) {
    if (word.find('.') != std::string::npos &&
        word.find_first_not_of("0123456789.") == std::string::npos) {
      return word;
    }
  }
  return "";
}

}  // namespace muster::accelerator
