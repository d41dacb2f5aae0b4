// SPDX-License-Identifier: Apache-2.0
// Accelerators from the names that TensorFlow gives to devices.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "muster/error.h"

namespace muster::conformance {

// "/job:worker/replica:0/task:1/device:TPU:4".
struct Device {
  std::string job, kind, core;
  std::string task;
};
std::vector<Device> ParseDevices(const std::vector<std::string>& names);

struct DeviceFilter {
  std::optional<std::string> task_type;  // with task_id
  std::optional<int> task_id;
  std::string kind;  // empty: all but the CPU
};
std::map<std::string, int> CountDevices(const std::vector<Device>& devices,
                                        const DeviceFilter& filter);

// TPU cores by the task of their host.
std::map<std::string, std::vector<std::string>> TpuCoresOfHosts(
    const std::vector<Device>& devices);
// The count that all hosts have. cluster-spec-invalid names those that differ.
Result<int> SameCoreCount(const std::map<std::string, int>& cores);

}  // namespace muster::conformance
