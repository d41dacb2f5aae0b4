// SPDX-License-Identifier: Apache-2.0
// What a word that the command line does not know was probably meant to be.
// All are usage-invalid. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/line/verb.h"
#include "muster/error.h"

namespace muster::cli {

// `words` begin with what is no sub-command of the group.
Error UnknownVerb(const Verb& group, std::span<const std::string> words);

Error UnknownFlag(const Verb& verb, const std::string& flag);

// A word that is no flag, among `words` after a sub-command that takes none.
Error UnexpectedWord(const Verb& verb, std::span<const std::string> words,
                     const std::string& word);

// The flag of ours that does what another launcher's does: of "-np" it is
// "-n N". nullopt: the verb has none, or the flag is nobody's.
std::optional<std::string> MeantByForeign(const Verb& verb,
                                          std::string_view flag);

}  // namespace muster::cli
