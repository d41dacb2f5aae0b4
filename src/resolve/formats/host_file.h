// SPDX-License-Identifier: Apache-2.0
// Host files. Pure; every error is
// cluster-spec-invalid and names the line or the entry.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/error.h"

namespace muster::resolve {

struct HostSlots {
  std::string host;
  int slots = 0;
  std::optional<int> max_slots;

  bool operator==(const HostSlots&) const = default;
};

struct HostFileRules {
  // Slots of a line that names none; absent: such a line is an error.
  std::optional<int> default_slots;
  // A host named twice has the slots of both lines; else an error.
  bool add_repeated = false;
};

// Lines "HOST slots=N [max_slots=M]", `#` begins a comment. `what` names the
// file in messages.
Result<std::vector<HostSlots>> ParseHostFile(std::string_view text,
                                             const std::string& what,
                                             const HostFileRules& rules);

}  // namespace muster::resolve
