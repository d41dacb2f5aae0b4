// SPDX-License-Identifier: Apache-2.0
// Which cluster is this, and who am I in it? Every source that speaks here is
// read; the first by precedence wins, the others are compared with it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "finding/finding.h"
#include "muster/cluster.h"
#include "muster/error.h"
#include "sys/host.h"

namespace muster::resolve {

// What the command line says of the cluster.
struct Request {
  std::optional<int> processes;        // -n N: all of them on this host
  std::optional<std::string> hosts;    // --hosts a:port,b:port
  std::optional<std::string> cluster;  // --cluster FILE
  std::optional<int> rank;             // --rank R
};

// What one source says. Values that it does not tell are absent.
struct Claim {
  std::string source;  // "flags", "muster", "torch", "tf-config", "default"
  Cluster cluster;
  // The coordinator was told, not concluded from the address of rank 0.
  bool coordinator_told = false;
  // Tells how many train, and nothing of other tasks (torch's WORLD_SIZE).
  bool only_trainers = false;
  std::vector<Finding> remarks;  // worth saying, no error
};

// A source that did not speak, and why.
struct Silence {
  std::string source;
  std::string why;  // "TF_CONFIG is not set"
};

struct Resolved {
  Cluster cluster;            // the winner's
  std::vector<Claim> claims;  // of all that spoke, the winner first
  std::vector<Silence> silent;
  // Contradictions that do not change who is there (addresses that differ in
  // their spelling), severity warning.
  std::vector<Finding> findings;
};

// Errors: cluster-spec-invalid (malformed, or two sources contradict each other
// on size, rank or coordinator: names both variables and what each claims),
// launch-env-missing, rank-world-mismatch, duplicate-identity,
// net-wrong-endpoint (no address of the list is this host's), file-missing,
// file-permission. No name is looked up. Main thread.
Result<Resolved> Resolve(const Request& request, const sys::Host& host);

// The text of `muster resolve`: members, own rank, coordinator, each with its
// source; then the sources that were silent and why.
std::string RenderText(const Resolved& resolved);
// The document of `muster resolve --output json`: muster.cluster/1 with the
// sources and findings beside it. `--cluster FILE` reads it.
Json ToJson(const Resolved& resolved);

}  // namespace muster::resolve
