// SPDX-License-Identifier: Apache-2.0
// A command as a person would type it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace muster {

// The word as a shell reads it back: quoted when it needs to be.
std::string ShellWord(std::string_view word);
// "python3 'a b.py' --lr 0.1".
std::string CommandLine(std::span<const std::string> argv);

}  // namespace muster
