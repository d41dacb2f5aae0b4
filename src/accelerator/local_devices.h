// SPDX-License-Identifier: Apache-2.0
// Accelerators of this host as their device files and PCI ids show them; none
// of them is opened.
#pragma once

#include <string>
#include <vector>

#include "sys/host.h"

namespace muster::accelerator {

struct LocalTpu {
  int chips = 0;
  std::string source;               // "/dev/accel*"
  std::vector<std::string> probed;  // each place and what it held
};
LocalTpu FindLocalTpu(const sys::Host& host);

// GPUs of NVIDIA by their device files, as CUDA_VISIBLE_DEVICES restricts them.
int CountGpus(const sys::Host& host);

}  // namespace muster::accelerator
