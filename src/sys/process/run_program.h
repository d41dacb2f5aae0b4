// SPDX-License-Identifier: Apache-2.0
// A small program whose answer is wanted: it is run to its end, or ended.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "muster/deadline.h"
#include "muster/error.h"

namespace muster::sys {

struct Program {
  // What to do with one that says more than most_bytes; both end it.
  enum class TooMuch { kRefuse, kCut };

  std::vector<std::string> argv;  // found on the PATH, never passes a shell
  // Set beside the environment of this process.
  std::vector<std::pair<std::string, std::string>> variables;
  std::size_t most_bytes = 1U << 20;  // of its output
  TooMuch too_much = TooMuch::kRefuse;
  bool silent = false;  // its stderr goes nowhere
};
struct ProgramAnswer {
  int wait_status = 0;
  std::string output;  // of stdout; stderr is that of this process
  bool cut = false;    // it was ended where it had said enough

  bool Succeeded() const { return cut || wait_status == 0; }
  // "status 3", "signal 9".
  std::string Ending() const;
};

// Its input is empty. It ends with this process at the latest.
// program-not-found, deadline-exceeded (it and what it started is ended),
// file-corrupt (it says too much), os-limit. Main thread.
Result<ProgramAnswer> RunProgram(const Program& program, Deadline deadline);

// Replaces this process, with its streams and its terminal; returns only the
// Error that kept it: program-not-found.
Error BecomeProgram(std::vector<std::string> argv);

}  // namespace muster::sys
