// SPDX-License-Identifier: Apache-2.0
// What one source says of the cluster and of this process's place in it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "finding/finding.h"
#include "muster/cluster.h"
#include "resolve/formats/task_map.h"

namespace muster::resolve {

using Number = std::optional<Sourced<int>>;
using Text = std::optional<Sourced<std::string>>;

// Values that a source does not tell are absent.
struct Claim {
  std::string source;  // "flags", "slurm", "tf-config", "default"
  // The nouns that the rest of the house works with; made by Complete from what
  // follows where a source does not give them itself.
  Cluster cluster;
  // The coordinator was told, not concluded from the address of rank 0.
  bool coordinator_told = false;
  // Tells how many train, and nothing of other tasks (torch's WORLD_SIZE).
  bool only_trainers = false;
  // Tells of this host and nothing of others: it contradicts no cluster.
  bool only_this_host = false;
  std::vector<Finding> remarks;  // worth saying, no error
  // Not empty: it speaks here and describes no cluster all the same, and why.
  std::string nothing;

  Number num_processes, process_id, local_process_id, local_num_processes;
  // The local numbers are ours: concluded from members at one address.
  bool local_concluded = false;
  Number num_nodes, node_rank, nproc_per_node;
  Number num_slices, slice_id, megascale_port;
  Text coordinator_host;  // IPv6 without brackets
  Number coordinator_port;
  std::vector<std::string> hosts;       // as they are listed
  std::vector<std::string> rank_hosts;  // by rank, where that is known
  std::vector<int> slots;               // ranks that each member's agent starts

  // TensorFlow's view.
  std::optional<TaskMap> tasks;
  Text task_type;
  Number task_id;
  Text rpc_layer;
  // As the source gives it; "" where the process drives its own devices.
  // Absent: the address of the task.
  Text master;

  Text accelerator_type;
  Number chips_per_host;
  // Whatever else a source knows, by the name that its users know it by.
  std::map<std::string, FactValue> more;
};

// A port that a member will listen on.
struct PortUse {
  int port = 0;
  std::string what;    // "coordinator (jax)"
  std::string source;  // "default of jax on TPU", "env MASTER_PORT"
};

// Makes the cluster of a claim that gives none: members of its map of tasks
// with all checks (addresses with ports, unique, own task among them), else
// processes without addresses, else one member for each node.
Status Complete(Claim& claim);

// The told host and port, where there are both, as the cluster's coordinator.
void TakeGivenCoordinator(Claim& claim);

// That numbers fit each other: ranks below sizes, own slice below their
// number. rank-world-mismatch names both values with their sources.
Status CheckNumbers(const Claim& claim);

}  // namespace muster::resolve
