// SPDX-License-Identifier: Apache-2.0
// Opens the devices of a plug-in, adds a number of each over all of them, and
// gives them back: all in a child that is ended at the deadline. While it does,
// nobody else can use them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "muster/deadline.h"
#include "muster/error.h"

namespace muster::pjrt {

struct OpenRequest {
  std::string plugin;  // path
  // So many of a CPU, whose devices are made as they are asked for.
  std::optional<int> cpu_devices;
  std::vector<std::pair<std::string, std::string>> variables;
  // Hears how far it is. May be empty.
  std::function<void(const std::string&)> hear;
};

struct Opened {
  int api_minor = 0;
  std::string platform;            // "tpu"
  std::string version;             // what it says of its runtime
  std::vector<std::string> kinds;  // of each device: "TPU v5 lite"
};

// The sum over all devices was right on each, and all were given back.
// device-missing: none is there; replica-divergence: a device has another sum;
// deadline-exceeded and framework-bug as AskInChild; others as Plugin::Load and
// what the plug-in says. Main thread.
Result<Opened> OpenInChild(const OpenRequest& request, Deadline deadline);

// StableHLO text: each of `devices` replicas gives the sum of their numbers.
std::string AllReduceProgram(int devices);

}  // namespace muster::pjrt
