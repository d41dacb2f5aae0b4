// SPDX-License-Identifier: Apache-2.0
// The cluster of this process and its rank.
//
//   MUSTER_ASSIGN(const muster::Cluster cluster, muster::ResolveCluster());
//   const int rank = cluster.self ? cluster.self->value : 0;
#pragma once

#include <optional>
#include <string>

#include "muster/cluster.h"
#include "muster/error.h"

namespace muster {

// Options of the caller; each has the meaning of the flag of `muster resolve`
// with the same name.
struct ResolveOptions {
  std::optional<int> processes;             // -n
  std::optional<std::string> hosts;         // --hosts a:8476,b:8476
  std::optional<std::string> cluster_file;  // --cluster
  std::optional<int> rank;                  // --rank
  std::string profile;                      // --profile
  std::string source;                       // --source
};

// The result of `muster resolve`: from arguments, variables and files, and
// otherwise from the metadata server, the Cloud TPU API or the Kubernetes API,
// each queried once per process (1 s to connect, 2 s for a response, 4 s in
// total). Errors: cluster-spec-invalid, launch-env-missing,
// rank-world-mismatch, duplicate-identity, net-wrong-endpoint,
// net-name-resolution, net-timeout-filtered, net-loopback-name, tpu-not-found,
// tpu-unhealthy, cloud-auth-missing, cloud-permission-denied,
// cloud-quota-exceeded, file-missing, usage-invalid. Any thread; calls wait for
// each other.
Result<Cluster> ResolveCluster(const ResolveOptions& options = {});

}  // namespace muster
