// SPDX-License-Identifier: Apache-2.0
// The command line of PyTorch's torchrun 2.13, translated to that of `muster
// run` (torch/distributed/run.py of the wheel).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "muster/error.h"
#include "sys/env.h"

namespace muster::cli {

// One flag of torchrun's and what becomes of it.
struct TorchrunFlag {
  std::string_view name;    // "--nproc-per-node"; with `_` as well
  std::string_view letter;  // "-m"; empty: none
  bool has_value = true;
  enum class Treatment { kServed, kTranslated, kRefused };
  Treatment treatment = Treatment::kServed;
  std::string_view becomes;  // "-n", or why it is refused
};
std::span<const TorchrunFlag> TorchrunFlags();

// What `muster run` does for `torchrun WORDS…` on this host: cluster, settings,
// environment and command of `line`, and what was translated in `notes`.
// usage-invalid: a flag that is not torchrun's, lacks its value, or cannot be
// served, with the reason.
Status TakeTorchrun(const std::vector<std::string>& words, const sys::Env& env,
                    CommandLine& line, std::vector<std::string>& notes);

}  // namespace muster::cli
