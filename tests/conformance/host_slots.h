// SPDX-License-Identifier: Apache-2.0
// Lists of hosts with slots, and processes placed on them, as Horovod and
// DeepSpeed do. Errors are cluster-spec-invalid and name the entry.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resolve/formats/host_file.h"

namespace muster::conformance {

using resolve::HostSlots;

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

}  // namespace muster::conformance
