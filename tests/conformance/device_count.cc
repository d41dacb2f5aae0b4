// SPDX-License-Identifier: Apache-2.0
#include "device_count.h"

#include "base/text.h"

namespace muster::conformance {
namespace {

// The text between `key` and the next slash.
std::string PartOf(const std::string& name, const std::string& key) {
  const auto at = name.find(key);
  if (at == std::string::npos) {
    return "";
  }
  const auto from = at + key.size();
  return name.substr(from, name.find('/', from) - from);
}

}  // namespace

std::vector<Device> ParseDevices(const std::vector<std::string>& names) {
  std::vector<Device> devices;
  for (const std::string& name : names) {
    Device device{.job = PartOf(name, "/job:"), .task = PartOf(name, "/task:")};
    const std::string kind = PartOf(name, "/device:");
    device.kind = kind.substr(0, kind.find(':'));
    device.core = kind.find(':') == std::string::npos
                      ? ""
                      : kind.substr(kind.find(':') + 1);
    devices.push_back(std::move(device));
  }
  return devices;
}

std::map<std::string, int> CountDevices(const std::vector<Device>& devices,
                                        const DeviceFilter& filter) {
  std::map<std::string, int> counts;
  const bool by_task = filter.task_type && filter.task_id;
  for (const Device& device : devices) {
    const bool other_task =
        by_task && (device.job != *filter.task_type ||
                    device.task != std::to_string(*filter.task_id));
    const bool other_kind = filter.kind.empty()
                                ? device.kind == "CPU" ||
                                      device.kind == "XLA_CPU" ||
                                      device.kind == "TPU_SYSTEM"
                                : device.kind != filter.kind;
    if (!device.kind.empty() && !other_task && !other_kind) {
      ++counts[device.kind];
    }
  }
  return counts;
}

std::map<std::string, std::vector<std::string>> TpuCoresOfHosts(
    const std::vector<Device>& devices) {
  std::map<std::string, std::vector<std::string>> hosts;
  for (const Device& device : devices) {
    if (device.kind == "TPU" && !device.core.empty()) {
      hosts[device.task].push_back(device.core);
    }
  }
  return hosts;
}

Result<int> SameCoreCount(const std::map<std::string, int>& cores) {
  if (cores.empty()) {
    return 0;
  }
  const int first = cores.begin()->second;
  for (const auto& [host, count] : cores) {
    if (count != first) {
      return Error(Cause::kClusterSpecInvalid,
                   "the hosts have different numbers of TPU cores: host " +
                       Printable(cores.begin()->first) + " has " +
                       std::to_string(first) + ", host " + Printable(host) +
                       " has " + std::to_string(count) +
                       ": the name of a pod is mixed with the address of one "
                       "of its hosts");
    }
  }
  return first;
}

}  // namespace muster::conformance
