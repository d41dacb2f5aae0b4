// SPDX-License-Identifier: Apache-2.0
// `muster torchrun …`: a line of torchrun's as it is.
#include "base/text.h"
#include "cli/run.h"
#include "cli/torchrun/torchrun_line.h"
#include "cli/verbs.h"
#include "sys/env.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

Status CheckTorchrun(CommandLine& line) {
  return TakeTorchrun(line.inputs, sys::RealEnv(), line, line.remarks);
}

Result<int> TorchrunVerb(const CommandLine& line,
                         const settings::Settings& settings,
                         const sys::Host& host) {
  for (const std::string& remark : line.remarks) {
    sys::PrintAside("muster: " + remark + "\n");
  }
  return RunVerb(line, settings, host);
}

// A row for each flag: what becomes of it.
std::string FlagTable() {
  std::vector<std::string> rows;
  for (const TorchrunFlag& flag : TorchrunFlags()) {
    const bool refused = flag.treatment == TorchrunFlag::Treatment::kRefused;
    std::string row(flag.name);
    if (!flag.letter.empty()) {
      row += ", ";
      row += flag.letter;
    }
    row += refused ? " is refused: " : ": ";
    row += flag.becomes;
    rows.push_back(std::move(row));
  }
  return Join(rows, "\n\n");
}

}  // namespace

Verb DescribeTorchrun() {
  return {
      .path = "torchrun",
      .summary = "run a command line of PyTorch's torchrun",
      .about =
          "Start what `torchrun` with the same words would start, as "
          "`muster run` does. All flags of torchrun 2.13 are understood, "
          "with `-` and with `_`. The script is run by PYTHON_EXEC or "
          "python3. Without --max-restarts there is no restart, as "
          "there.\n\n"
          "What becomes of each flag:\n\n" +
          FlagTable(),
      .examples = {{"muster torchrun --standalone --nproc-per-node=8 train.py"},
                   {"muster torchrun --nnodes=2 --nproc-per-node=8 "
                    "--rdzv-endpoint=a:29400 t.py",
                    "on both hosts, with MUSTER_TOKEN_FILE"}},
      .exits = {{"0-255", "as of `muster run`"}},
      .argument = {.name = "ARGS", .required = true, .repeats = true},
      .check = CheckTorchrun,
      .run = TorchrunVerb,
      .passes = true};
}

}  // namespace muster::cli
