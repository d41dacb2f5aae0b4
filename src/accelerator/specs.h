// SPDX-License-Identifier: Apache-2.0
// What accelerators have, by the names that people call them. One table; pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "muster/error.h"

namespace muster::accelerator {

struct Figures {
  std::string_view name;  // "v5e", "a100-40g"
  // What the device calls itself, or words of it; several with bars:
  // "A100-SXM4-40GB|A100-PCIE-40GB".
  std::string_view kind;
  // Usable bytes of one device: of a TPU what its compiler says, of a GPU what
  // a program sees of it, less half a GiB for its context.
  std::int64_t memory = 0;
  int number_per_device = 1;  // of "v4-8": what the 8 counts, for each device
  int devices_per_chip = 1;   // of "v3:2x2"
  // Of a chip in a second, at most: operations in bf16, and bytes to and from
  // its memory. 0: not known here. Where sources differ, the larger.
  double flops = 0, bandwidth = 0;
  bool tpu = false;
};

std::span<const Figures> AllFigures();

struct Target {
  const Figures* figures = nullptr;
  int devices = 1;
};

// "v5e-8", "v5litepod-8", "v3:2x2", "H100", "h100:8", "a100-40g", in letters of
// either case. usage-invalid with what was probably meant.
Result<Target> ParseTarget(std::string_view text);

// By what a device calls itself: "NVIDIA A100-SXM4-40GB", "TPU v5e". nullptr:
// it is not known.
const Figures* FiguresOf(std::string_view kind);

}  // namespace muster::accelerator
