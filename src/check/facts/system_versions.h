// SPDX-License-Identifier: Apache-2.0
// Versions of what the system brings and no package of Python does.
#pragma once

#include <map>
#include <string>

#include "sys/file/fs.h"

namespace muster::check {

// "kernel", "glibc", "nvidia-driver", "nccl"; what is not here, or does not
// tell, is left out. glibc is that of the system, which this program does not
// use. May wait for a disk.
std::map<std::string, std::string> SystemVersions(const sys::Fs& fs);

}  // namespace muster::check
