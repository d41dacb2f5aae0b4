// SPDX-License-Identifier: Apache-2.0
// What the last lines of a rank's stderr tell.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace muster::diagnose {

// True for a line that says no more than that a peer is gone or late.
bool SaysPeerIsGone(std::string_view line);

// The line that tells why the program ended: the exception of the last Python
// traceback, what an uncaught C++ exception says, else the last line that is
// not empty. Empty: there is none.
std::string DecisiveLine(std::span<const std::string> lines);

// True when the lines say that the program ended because a peer is gone: the
// exceptions among them say so, or, without any exception, one of the lines.
bool BlamesAPeer(std::span<const std::string> lines);

// True when there is an exception that is the program's own: it does not blame
// a peer and is not how a program ends that was asked to.
bool HasOwnException(std::span<const std::string> lines);

}  // namespace muster::diagnose
