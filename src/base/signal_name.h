// SPDX-License-Identifier: Apache-2.0
// Names of signals. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster {

std::string SignalName(int signal);  // "SIGKILL"; "signal 64" where it has none

// 9 of "SIGKILL", "KILL" and "kill"; nullopt: no signal that has a name here.
std::optional<int> SignalNumber(std::string_view name);

}  // namespace muster
