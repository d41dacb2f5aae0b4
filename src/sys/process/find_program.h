// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sys/env.h"
#include "sys/file/fs.h"

namespace muster::sys {

// The path of a program as execvp finds it; empty: not found.
std::string FindProgram(const Env& env, const Fs& fs, const std::string& name);

}  // namespace muster::sys
