// SPDX-License-Identifier: Apache-2.0
// Which limit of the operating system a call has met.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "muster/fact.h"

namespace muster::sys {

struct OsLimit {
  std::string name;    // "open files"
  std::string letter;  // of ulimit: "n"; empty: that has none
  std::string value;   // as ulimit shows it: "1024", "unlimited"
  std::string wanted;  // what to raise it to
};

// Of the process `pid` (0: this one), by what the call gave; nullopt: none that
// is known to be behind that errno.
std::optional<OsLimit> LimitMet(std::string_view call, int error_number,
                                int pid = 0);

// "the limit of open files is 64 (ulimit -n)".
std::string LimitText(const OsLimit& limit);
// Fields `limit`, `value` and `wanted`, which the fixes of os-limit name.
void AddTo(Fact& fact, const OsLimit& limit);

}  // namespace muster::sys
