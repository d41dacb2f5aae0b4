// SPDX-License-Identifier: Apache-2.0
#include "run/coordinator/peer_check.h"

#include <utility>

#include "base/json.h"
#include "cluster/cluster_json.h"
#include "netcheck/diagnosis/mesh_findings.h"

namespace muster::run {
namespace {

Result<int> AttemptIn(const Json& json, std::string_view kind) {
  if (!json.is_object() || !json.contains("attempt") ||
      !json["attempt"].is_number_integer()) {
    return Error(Cause::kVerPeerMismatch,
                 "a `" + std::string(kind) + "` without the attempt's number");
  }
  return json["attempt"].get<int>();
}

}  // namespace

Json ToJson(const Meet& meet) {
  return {{"attempt", meet.attempt}, {"ports", muster::ToJson(meet.ports)}};
}

Json ToJson(const Met& met) {
  return {{"attempt", met.attempt}, {"row", netcheck::ToJson(met.row)}};
}

Result<Meet> MeetFromJson(const Json& json) {
  Meet meet;
  MUSTER_ASSIGN(meet.attempt, AttemptIn(json, "meet"));
  MUSTER_ASSIGN(meet.ports,
                ClusterFromJson(json.value("ports", Json()), "`meet`"));
  return meet;
}

Result<Met> MetFromJson(const Json& json) {
  Met met;
  MUSTER_ASSIGN(met.attempt, AttemptIn(json, "met"));
  MUSTER_ASSIGN(met.row, netcheck::MeshRowFromJson(json.value("row", Json())));
  return met;
}

bool Meeting::Tells(int agent, netcheck::MeshRow row) {
  const auto size = static_cast<int>(ports_.members.size());
  if (row.rank >= 0 && row.rank < size && told_.insert(agent).second) {
    netcheck::KeepRanksBelow(size, row);
    rows_.emplace(row.rank, std::move(row));
  }
  return static_cast<int>(told_.size()) == agents_;
}

std::vector<Finding> Meeting::Judge(WallTime at) const {
  return netcheck::JudgeMesh(ports_, rows_, at).findings;
}

}  // namespace muster::run
