// SPDX-License-Identifier: Apache-2.0
// `muster run`: from the command line to run/session.h or remote/start_ssh.h.
#pragma once

#include <optional>
#include <string>

#include "cli/command_line.h"
#include "muster/error.h"
#include "settings/settings.h"
#include "sys/host.h"

namespace muster::cli {

// The exit code is that of the run. `handed_token`: of an agent that was
// started over ssh. Main thread, before any other.
Result<int> RunVerb(const CommandLine& line, const settings::Settings& settings,
                    const sys::Host& host,
                    const std::optional<std::string>& handed_token);

}  // namespace muster::cli
