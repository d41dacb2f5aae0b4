// SPDX-License-Identifier: Apache-2.0
// Asking before something that others would notice. Main thread.
#pragma once

#include <optional>
#include <string>

namespace muster::sys {

// Whether the person at the terminal says yes; anything else is no, also ten
// minutes without an answer. nullopt: nobody is there to be asked.
std::optional<bool> AskPerson(const std::string& question);

}  // namespace muster::sys
