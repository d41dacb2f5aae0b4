// SPDX-License-Identifier: Apache-2.0
// Which cores are neighbors: of one physical core, of one NUMA node.
#pragma once

#include <vector>

#include "sys/file/fs.h"

namespace muster::sys {

struct Core {
  int id = 0;    // as sched_setaffinity(2) counts them
  int node = 0;  // NUMA node; 0 where the kernel names none
};

// These cores by node, and in it by physical core: what follows each other
// shares caches. From /sys/devices/system (ABI/stable/sysfs-devices-node).
std::vector<Core> InTopologyOrder(const Fs& fs, const std::vector<int>& ids);

}  // namespace muster::sys
