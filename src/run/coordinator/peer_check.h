// SPDX-License-Identifier: Apache-2.0
// Before ranks start, their agents try each other on the ports that the ranks
// will be given. The coordinator's side: who has told what it saw.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/json_fwd.h"
#include "finding/finding.h"
#include "muster/cluster.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "netcheck/mesh/mesh.h"

namespace muster::run {

// How long paths that are not well are tried. All that are well end it at once.
inline constexpr std::chrono::milliseconds kMeetingWait{3000};
// When those that have not told are not waited for any more.
inline constexpr std::chrono::seconds kMeetingLimit{10};

// coordinator -> agent, kind "meet": the members with the addresses and ports
// of PortsOfRanks.
struct Meet {
  int attempt = 1;
  Cluster ports;
};
// agent -> coordinator, kind "met".
struct Met {
  int attempt = 1;
  netcheck::MeshRow row;
};
Json ToJson(const Meet& meet);
Json ToJson(const Met& met);
// ver-peer-mismatch: not what the other side says.
Result<Meet> MeetFromJson(const Json& json);
Result<Met> MetFromJson(const Json& json);

// One for each attempt. Pure.
class Meeting {
 public:
  Meeting(Cluster ports, int agents)
      : ports_(std::move(ports)), agents_(agents) {}

  // True when all have told. An agent tells once.
  bool Tells(int agent, netcheck::MeshRow row);
  // One finding per root; empty: every rank can reach every other.
  std::vector<Finding> Judge(WallTime at) const;

 private:
  Cluster ports_;
  int agents_;
  std::set<int> told_;
  std::map<int, netcheck::MeshRow> rows_;
};

}  // namespace muster::run
