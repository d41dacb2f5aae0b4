// SPDX-License-Identifier: Apache-2.0
// Accelerators by what a user or a device calls them. Pure.
#pragma once

#include <string_view>

#include "accelerator/table.h"
#include "muster/error.h"

namespace muster::accelerator {

// What a program is to run on.
struct TargetDevices {
  const Specs* specs = nullptr;
  int count = 1;
};

// "v5e-8", "v5litepod-8", "v3:2x2", "H100", "h100:8", "a100-40g", in letters of
// either case. usage-invalid with what was probably meant.
Result<TargetDevices> ParseTargetDevices(std::string_view text);

// By what a device calls itself: "NVIDIA A100-SXM4-40GB", "TPU v5e". nullptr:
// it is not known.
const Specs* SpecsOf(std::string_view kind);

}  // namespace muster::accelerator
