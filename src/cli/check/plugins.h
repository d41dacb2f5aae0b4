// SPDX-License-Identifier: Apache-2.0
// PJRT plug-ins of this host, found without loading one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/context.h"
#include "muster/cluster.h"
#include "sys/host.h"

namespace muster::cli {

// libtpu.so of the active Python environment.
std::optional<Sourced<std::string>> LibtpuOfPython(const sys::Host& host);

// For TPUs, CUDA and the CPU, of each by precedence. May wait for a disk.
std::vector<check::FoundPlugin> FindPlugins(const sys::Host& host);

}  // namespace muster::cli
