// SPDX-License-Identifier: Apache-2.0
#include "program/fit/roofline.h"

#include <algorithm>

#include "accelerator/specs.h"
#include "base/text.h"

namespace muster::program {

std::optional<Fastest> FastestRun(std::string_view topology, int devices,
                                  const Work& work) {
  const auto colon = topology.find(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view name = topology.substr(0, colon);
  const auto all = accelerator::AllFigures();
  const auto figures = std::find_if(
      all.begin(), all.end(), [&](const accelerator::Figures& one) {
        return one.name == (name == "v5" ? "v5p" : name);
      });
  double chips = 1;
  for (const std::string& side : Split(topology.substr(colon + 1), 'x')) {
    chips *= static_cast<double>(ParseInt(side).value_or(0));
  }
  if (figures == all.end() || figures->flops <= 0 || chips < 1 || devices < 1 ||
      (!work.flops && !work.bytes)) {
    return std::nullopt;
  }
  // A chip of two devices gives each the half.
  const double share = chips / devices;
  Fastest fastest{.flops = figures->flops * share,
                  .bandwidth = figures->bandwidth * share};
  fastest.flops_seconds = work.flops.value_or(0) / fastest.flops;
  fastest.bytes_seconds = work.bytes.value_or(0) / fastest.bandwidth;
  fastest.seconds = std::max(fastest.flops_seconds, fastest.bytes_seconds);
  return fastest;
}

}  // namespace muster::program
