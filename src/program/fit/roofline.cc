// SPDX-License-Identifier: Apache-2.0
#include "program/fit/roofline.h"

#include <algorithm>

#include "accelerator/table.h"
#include "base/text.h"

namespace muster::program {

std::optional<Fastest> Roofline(std::string_view topology, int devices,
                                const Work& work) {
  const auto colon = topology.find(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  const accelerator::Specs* specs =
      accelerator::FindTopology(topology.substr(0, colon));
  double chips = 1;
  for (const std::string& side : Split(topology.substr(colon + 1), 'x')) {
    chips *= static_cast<double>(ParseInt(side).value_or(0));
  }
  if (specs == nullptr || specs->flops <= 0 || chips < 1 || devices < 1 ||
      (!work.flops && !work.bytes)) {
    return std::nullopt;
  }
  // A chip of two devices gives each the half.
  const double share = chips / devices;
  Fastest fastest{.flops = specs->flops * share,
                  .bandwidth = specs->bandwidth * share};
  fastest.flops_seconds = work.flops.value_or(0) / fastest.flops;
  fastest.bytes_seconds = work.bytes.value_or(0) / fastest.bandwidth;
  fastest.seconds = std::max(fastest.flops_seconds, fastest.bytes_seconds);
  return fastest;
}

}  // namespace muster::program
