// SPDX-License-Identifier: Apache-2.0
// The exit codes of the program: DESIGN section 7,
// docs/reference/exit-codes.md. Pure; any thread.
#pragma once

#include <string_view>

#include "muster/error.h"

namespace muster {

// By Ctrl-C, or by a SIGTERM that the program obeyed.
inline constexpr int kExitInterrupted = 130;

// 0: good; 1: refused; 2: usage; 3: no answer could be had; 75: no capacity or
// quota now.
int TpuExitCode(Cause cause);

// 2 for a wrong command line, setting or description of the cluster; 126 or 127
// for a program that cannot be started; 130 for cancelled; 125 for a bug of
// ours. What else it is says the sub-command: of run 125, it could not be set
// up; of check and explain 3, it could not find out; of the others what
// TpuExitCode says.
int ExitCodeOf(const Error& error, std::string_view verb);

}  // namespace muster
