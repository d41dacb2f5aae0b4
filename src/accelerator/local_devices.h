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

// GPUs of NVIDIA by their device files, as CUDA_VISIBLE_DEVICES restricts them;
// without one, those of AMD by the topology of their driver, as
// ROCR_VISIBLE_DEVICES does.
int CountGpus(const sys::Host& host);

// What ranks of this host can divide, and the variable that shows each its own:
// GPUs, else chips of a TPU. Both empty: nothing.
struct LocalDevices {
  int count = 0;
  std::string variable;
};
LocalDevices FindLocalDevices(const sys::Host& host);

}  // namespace muster::accelerator
