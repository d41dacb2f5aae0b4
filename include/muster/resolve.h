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

// The answer of `muster resolve`: arguments, variables and files, and where
// they do not suffice the metadata server, the Cloud TPU API or the Kubernetes
// API, each asked once for the process (1 s to connect, 2 s for an answer, 4 s
// in all). Errors: cluster-spec-invalid, launch-env-missing,
// rank-world-mismatch, duplicate-identity, net-wrong-endpoint,
// net-name-resolution, net-timeout-filtered, net-loopback-name, tpu-not-found,
// tpu-unhealthy, cloud-auth-missing, cloud-permission-denied,
// cloud-quota-exceeded, file-missing, usage-invalid. Any thread; calls wait for
// each other.
Result<Cluster> ResolveCluster(const ResolveOptions& options = {});

}  // namespace muster
