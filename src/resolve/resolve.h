// SPDX-License-Identifier: Apache-2.0
// Which cluster is this, and who am I in it? Every source that speaks here is
// read; the first by precedence wins, the others are compared with it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "finding/finding.h"
#include "muster/cluster.h"
#include "muster/error.h"
#include "resolve/claim.h"
#include "sys/host.h"

namespace muster::resolve {

// What names a TPU or a group of machines in Google's cloud.
struct CloudRequest {
  std::optional<std::string> tpu;             // --tpu NAME
  std::optional<std::string> project, zone;   // --project, --zone
  std::optional<std::string> instance_group;  // --instance-group NAME
};

// What the command line says of the cluster.
struct Request {
  std::optional<int> processes;  // -n N: ranks of each host
  // -n gpu, cpu, auto: as many as this host has; Resolve makes a number of it.
  std::string processes_by;
  std::optional<std::string> hosts;    // --hosts a:port,b:port
  std::optional<std::string> cluster;  // --cluster FILE
  std::optional<int> rank;             // --rank R
  // What torchrun calls them: --nnodes, --node-rank, --master-addr and -port.
  std::optional<std::string> nodes;
  std::optional<int> node_rank;
  std::optional<std::string> master_addr;
  std::optional<int> master_port;

  // Whose convention holds where they differ: tf, estimator, jax, torch,
  // torch_xla, ray, deepspeed, openmpi; empty: that of the source.
  std::string profile;
  std::string source;  // the only one to ask; empty: all

  std::optional<std::string> host_file;  // --hostfile FILE
  // --pods: job -> label selectors of its pods.
  std::vector<std::pair<std::string, std::vector<std::string>>> selectors;
  CloudRequest cloud;
};

// A source that did not speak, and why.
struct Silence {
  std::string source;
  std::string why;  // "TF_CONFIG is not set"
};

struct Resolved {
  // The winner's. Tells the own rank of several, unless all are on this host.
  Cluster cluster;
  std::vector<Claim> claims;  // of all that spoke, the winner first
  std::vector<Silence> silent;
  // Contradictions between sources and what looks left over, severity warning.
  std::vector<Finding> findings;
  std::vector<PortUse> ports;
};

// Errors: cluster-spec-invalid (malformed, or two descriptions made for this
// process contradict each other on size, rank or coordinator: names both
// variables and what each claims), launch-env-missing, rank-world-mismatch,
// duplicate-identity, net-wrong-endpoint (no address of the list is this
// host's), net-loopback-name, tpu-mode-mismatch, cloud-*, file-missing,
// file-permission. The network is asked only where host.http is given, and only
// when nothing else tells the cluster. Main thread.
Result<Resolved> Resolve(const Request& request, const sys::Host& host);

// What all questions to the network of one call may take together.
inline constexpr std::chrono::seconds kTimeout{4};

struct RenderOptions {
  bool verbose = false;  // what every source said
};
// The text of `muster resolve`: members, own rank, coordinator, each with its
// source; then the sources that were silent and why.
std::string RenderText(const Resolved& resolved,
                       const RenderOptions& options = {});
// The document of `muster resolve --output json`: muster.cluster/1 with the
// sources and findings beside it. `--cluster FILE` reads it.
Json ToJson(const Resolved& resolved);

}  // namespace muster::resolve
