// SPDX-License-Identifier: Apache-2.0
// Where the control groups of a process are, and what limits they set.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sys/file/fs.h"

namespace muster::sys {

// The directories that limit a process for one controller ("memory", "cpu"),
// its own first, then its parents up to the root of the mount that is visible
// here. Empty: none. pid 0 is this process. Any thread.
struct CgroupPath {
  std::vector<std::string> directories;
  bool v2 = false;
};
CgroupPath FindCgroup(const Fs& fs, std::string_view controller, int pid);

// The directory of this process' own group of v2; nullopt: none is mounted
// here. Any thread.
std::optional<std::string> FindUnifiedCgroup(const Fs& fs);

// Cores' worth of time that the cgroups grant, the least of all levels;
// nullopt: no quota.
std::optional<double> CpuQuota(const Fs& fs, int pid);

}  // namespace muster::sys
