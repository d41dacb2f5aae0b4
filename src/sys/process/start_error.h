// SPDX-License-Identifier: Apache-2.0
// Why a process was not started, in words.
#pragma once

#include <string>
#include <vector>

#include "muster/error.h"
#include "sys/process/spawner.h"
#include "wire/guardian_frame.h"

namespace muster::sys {

// Where exec is to look for a program, as the shell would.
std::vector<std::string> ProgramsOf(const ProcessSpec& spec);

// Both with the fact "spawn.failed". The second: argv names no program.
Error NotStarted(const ProcessSpec& spec, const wire::StartFailure& failure,
                 int guardian);
Error NothingToStart(const ProcessSpec& spec);

}  // namespace muster::sys
