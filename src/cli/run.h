// SPDX-License-Identifier: Apache-2.0
// `muster run`: from the command line to run/session.h or remote/start_ssh.h.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"
#include "muster/error.h"
#include "settings/settings.h"
#include "sys/host.h"

namespace muster::cli {

// The command line of an agent, but for its rank and the hosts: settings that
// this process has of its flags, its environment and muster.toml, and the
// command. Without those of what this end alone does. Pure.
std::vector<std::string> AgentArguments(const CommandLine& line,
                                        const sys::Env& env);

// The exit code is that of the run. Main thread, before any other.
Result<int> RunVerb(const CommandLine& line, const settings::Settings& settings,
                    const sys::Host& host);

}  // namespace muster::cli
