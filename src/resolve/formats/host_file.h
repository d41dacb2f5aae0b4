// SPDX-License-Identifier: Apache-2.0
// Host files and lists of hosts with slots. Pure; every error is
// cluster-spec-invalid and names the line or the entry.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

// "worker-0:2,worker-1:2".
Result<std::vector<HostSlots>> ParseHostSlots(std::string_view text);

// One process of a placing: ranks fill the slots of hosts in order.
struct Placed {
  std::string host;
  int rank = 0;
  int local_rank = 0;
  int cross_rank = 0;  // among the processes of that local rank
  int size = 0;
  int local_size = 0;
  int cross_size = 0;
};
// At least `least` processes and at most `most`, where given; without `most`
// every slot gets one.
Result<std::vector<Placed>> PlaceProcesses(const std::vector<HostSlots>& hosts,
                                           int least, std::optional<int> most);

// Slot numbers by host, in the order of the host list.
using SlotLists = std::vector<std::pair<std::string, std::vector<int>>>;
// "HOST@HOST:SLOT,SLOT": those that stay with `include`, or go with `exclude`.
Result<SlotLists> FilterHosts(const SlotLists& hosts, std::string_view include,
                              std::string_view exclude);

}  // namespace muster::resolve
