// SPDX-License-Identifier: Apache-2.0
// The least time that a run of a program takes on a chip of TPUs, and the
// examples that it then wants: arithmetic on the compiler's counts. Pure.
#pragma once

#include <optional>
#include <string_view>

namespace muster::program {

// What a device does in a run, as its compiler counts it.
struct Work {
  std::optional<double> flops, bytes;
};

struct Fastest {
  double seconds = 0;  // the longer of the two
  double flops_seconds = 0, bytes_seconds = 0;
  double flops = 0, bandwidth = 0;  // of one device, in a second
};

// For a topology as `--on` names it, of so many devices. nullopt: the chip's
// figures, or all of the work, are not known.
std::optional<Fastest> FastestRun(std::string_view topology, int devices,
                                  const Work& work);

}  // namespace muster::program
