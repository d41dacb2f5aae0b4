// SPDX-License-Identifier: Apache-2.0
// Which cluster is this, and who am I in it?
//
//   MUSTER_ASSIGN(const muster::Cluster cluster, muster::ResolveCluster());
//   const int rank = cluster.self ? cluster.self->value : 0;
#pragma once

#include <optional>
#include <string>

#include "muster/cluster.h"
#include "muster/error.h"

namespace muster {

// What the caller says of the cluster; each has the meaning of the flag of
// `muster resolve` with its name.
struct ResolveOptions {
  std::optional<int> processes;             // -n
  std::optional<std::string> hosts;         // --hosts a:8476,b:8476
  std::optional<std::string> cluster_file;  // --cluster
  std::optional<int> rank;                  // --rank
  std::string profile;                      // --profile
  std::string source;                       // --source
};

// The answer of `muster resolve` from arguments, variables and files. No
// network is asked: where only the metadata server or an API could tell, the
// answer is that of a host without one. Errors: cluster-spec-invalid,
// launch-env-missing, rank-world-mismatch, duplicate-identity,
// net-wrong-endpoint, net-loopback-name, file-missing, usage-invalid. Any
// thread.
Result<Cluster> ResolveCluster(const ResolveOptions& options = {});

}  // namespace muster
