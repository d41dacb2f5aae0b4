// SPDX-License-Identifier: Apache-2.0
// How many processes a host is to have, as torchrun's --nproc-per-node says it.
#pragma once

#include <string>

#include "muster/error.h"
#include "sys/host.h"

namespace muster::resolve {

// A number, "gpu", "xpu", "cpu" or "auto" (GPUs, else cores). device-missing:
// this host has none of the kind; cluster-spec-invalid: something else.
Result<int> CountProcesses(const std::string& text, const sys::Host& host);

}  // namespace muster::resolve
