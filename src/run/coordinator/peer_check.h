// SPDX-License-Identifier: Apache-2.0
// Before ranks start, their agents try each other on the ports that the ranks
// will be given. The coordinator's side: who has reported what.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "finding/finding.h"
#include "muster/cluster.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "netcheck/mesh/mesh.h"
#include "wire/agent_messages.h"

namespace muster::run {

// How long paths that are not well are tried. All that are well end it at once.
inline constexpr std::chrono::milliseconds kPeerCheckTimeout{3000};
// When those that have not reported are not waited for any more.
inline constexpr std::chrono::seconds kPeerCheckLimit{10};

// What the agent saw; ver-peer-mismatch or net-wrong-endpoint: it is no row.
Result<netcheck::MeshRow> RowOf(const wire::PeerCheckResult& result);

// One for each attempt. Pure.
class PeerCheck {
 public:
  PeerCheck(Cluster ports, int agents)
      : ports_(std::move(ports)), agents_(agents) {}

  // True when all have reported. An agent reports once.
  bool Tells(int agent, netcheck::MeshRow row);
  // One finding per root; empty: every rank can reach every other.
  std::vector<Finding> Judge(WallTime at) const;

 private:
  Cluster ports_;
  int agents_;
  std::set<int> reported_;
  std::map<int, netcheck::MeshRow> rows_;
};

}  // namespace muster::run
