// SPDX-License-Identifier: Apache-2.0
// What TPU this host is part of, and the environment that processes on its
// chips get.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "resolve/claim.h"
#include "sys/host.h"

namespace muster::conformance {

using resolve::Number;
using resolve::Text;

// Values that neither a variable nor the metadata server tells are absent;
// metadata are asked only for those that no variable tells.
struct TpuIdentity {
  Text accelerator_type;  // well formed ones only
  std::string generation;
  Number worker_id;
  Text name;
};
TpuIdentity IdentifyTpu(const sys::Host& host);

struct TopologyRequest {
  std::string profile;
  std::optional<std::string> accelerator_type;
  std::optional<int> local_chips, local_rank, local_world_size;
  std::vector<std::string> visible_chips;
  bool has_visible_chips = false;
};

struct TpuTopology {
  Text accelerator_type;
  std::optional<int> version, task_id;
  Number worker_id;
  Text process_bounds, chips_per_process_bounds;
  std::optional<int> process_bounds_size, local_processes, local_devices;
  std::optional<int> num_hosts;
  // What a process must have set; only where the request asks for one.
  std::optional<std::map<std::string, std::string>> process_env;
};
// cluster-spec-invalid names a variable whose bounds are malformed.
Result<TpuTopology> ReadTopology(const TopologyRequest& request,
                                 const sys::Host& host);

}  // namespace muster::conformance
