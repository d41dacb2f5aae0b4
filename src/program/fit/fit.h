// SPDX-License-Identifier: Apache-2.0
// Whether a training step fits an accelerator's memory, by arithmetic alone:
// no program is needed and nobody is asked. docs/reference/fit.md has the
// formula and its error against a compiler. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "accelerator/table.h"
#include "muster/error.h"

namespace muster::program {

// What a step keeps between steps and needs within one.
struct FitRequest {
  double params = 0;
  std::string optimizer = "adam";
  std::string dtype = "f32";  // f32, bf16, f16, mixed
  std::string activations;    // bytes a device, or the shape of a transformer
  bool sharded = false;       // weights, gradients and states over all devices
};

// One line of the sum: "gradients", its bytes on a device, how they come about.
struct FitTerm {
  std::string name;
  double bytes = 0;
  std::string formula;
};

struct Fit {
  std::vector<FitTerm> terms;
  double bytes = 0;  // of all terms
};

// "1.3B", "350M", "1300000000". usage-invalid.
Result<double> ParseParams(std::string_view text);

// The sum on each of `devices`. usage-invalid for the request.
Result<Fit> EstimateFit(const FitRequest& request, int devices);

// The accelerator of the least memory that one device of fits; nullptr: none.
const accelerator::Specs* SmallestThatFits(double bytes);

// The least power of two of devices of that kind over which a sharded step
// fits, at most 1024; nullopt: none, because activations alone are too large.
Result<std::optional<int>> DevicesThatFit(const FitRequest& request,
                                          const accelerator::Specs& specs);

}  // namespace muster::program
