// SPDX-License-Identifier: Apache-2.0
#include "run/coordinator/peer_check.h"

#include <utility>

#include "base/json.h"
#include "netcheck/diagnosis/mesh_findings.h"

namespace muster::run {
Result<netcheck::MeshRow> RowOf(const wire::PeerCheckResult& result) {
  MUSTER_ASSIGN(const Json json, ParseJson(result.row, Cause::kVerPeerMismatch,
                                           "the row of a peer check"));
  return netcheck::MeshRowFromJson(json);
}

bool PeerCheck::Tells(int agent, netcheck::MeshRow row) {
  const auto size = static_cast<int>(ports_.members.size());
  if (row.rank >= 0 && row.rank < size && reported_.insert(agent).second) {
    netcheck::KeepRanksBelow(size, row);
    rows_.emplace(row.rank, std::move(row));
  }
  return static_cast<int>(reported_.size()) == agents_;
}

std::vector<Finding> PeerCheck::Judge(WallTime at) const {
  return netcheck::JudgeMesh(ports_, rows_, at).findings;
}

}  // namespace muster::run
