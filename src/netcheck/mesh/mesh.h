// SPDX-License-Identifier: Apache-2.0
// The mesh: which member reaches which, on which port, and what was seen where
// one does not. Values, and their JSON.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/text.h"
#include "muster/address.h"
#include "muster/cluster.h"
#include "muster/deadline.h"
#include "muster/error.h"

namespace muster::netcheck {

using muster::ToString;  // those declared here do not hide it

// What one member saw at a port of another.
enum class Path {
  kUntried,
  kOk,
  kRefused,      // the host answers, nobody listens
  kNoAnswer,     // packets are lost: filtered, or the host is down
  kNoRoute,      // the kernel or a router says that there is no way
  kUnresolved,   // the name does not resolve
  kItself,       // the address leads back to who asked
  kOtherMember,  // a member of this run with another rank
  kStranger,     // muster of another run, or with another key
  kForeign,      // something else answers
  kSilent,       // takes connections and says nothing, or not enough
  kClosed,       // takes connections and ends them
  kLargeLost,    // small packets pass, large ones do not
  kOwnLimit,     // who asks could not begin: no file, port or memory is left
};
std::string_view ToString(Path path);

inline constexpr std::string_view kServedPlace = "on a disk that is served";
inline constexpr std::string_view kOwnPlace = "on a disk of the host";
inline constexpr std::string_view kAnswersArp = "answers ARP";
inline constexpr std::string_view kNoArp = "does not answer ARP";

struct PathResult {
  Path path = Path::kUntried;
  Duration round_trip{};
  int tries = 0;
  // What the first tries showed before it was well; kUntried: it was at once.
  Path before = Path::kUntried;
  Duration healed{};         // after the first try
  std::string seen;          // "ECONNREFUSED", "an HTTP server (`…`)"
  std::string number;        // "10.0.0.7:8476" that the name led to
  int answered_as = -1;      // rank of the member that answered
  std::string sign_of_life;  // how else the host answers: "port 22 is open"
  // What the own network tells of a host that gives no answer; empty: nothing.
  std::string neighbor;    // kAnswersArp, kNoArp
  std::string translated;  // the peer saw this connection come from there
  Duration clock_ahead{};  // of the peer's clock; within half a round trip

  bool operator==(const PathResult&) const = default;
};

// A port of a member that the run will use.
struct MeshTarget {
  int rank = 0;
  std::uint16_t port = 0;

  auto operator<=>(const MeshTarget&) const = default;
};

// Why this member does not listen on one of its ports itself.
struct PortTaken {
  std::uint16_t port = 0;
  std::string why;  // "port 8476 is in use by process 77 (python3)"
  Cause cause = Cause::kNetPortInUse;

  bool operator==(const PortTaken&) const = default;
};

// All that one member says: who it is and what it saw. Sent to the others.
struct MeshRow {
  int rank = -1;     // -1: not a member, looks only
  std::string host;  // its name
  int pid = 0;
  std::string version;
  std::vector<PortTaken> taken;
  // Who has another list of members, and in which line it differs.
  std::map<std::string, std::string> other_lists;
  std::map<MeshTarget, PathResult> paths;
  std::set<int> heard;  // ranks that reached this member
  // Who claimed a rank to this one: "host b, pid 77".
  std::map<int, std::set<std::string>> claims;
  // Versions of what talks across hosts: "jax" -> "0.4.35".
  std::map<std::string, std::string> versions;
  // Digests of what should be the same everywhere: "program train.py", "data
  // /mnt/d", "interpreter python3". And "place /mnt/ck": what kind of disk a
  // folder of checkpoints is on.
  std::map<std::string, std::string> files;
  // Of the members whose marks were looked for: the folders in which they are
  // not seen here.
  std::map<int, std::vector<std::string>> marks;
  bool final = false;

  bool operator==(const MeshRow&) const = default;
};

Json ToJson(const PathResult& result);
// Short, for everybody reads that of everybody: paths that were well at once
// leave out where their name led to.
Json ToJson(const MeshRow& row);
// From bytes of a peer: net-wrong-endpoint names the field that is wrong.
Result<MeshRow> MeshRowFromJson(const Json& json);
// Takes out what a peer says of ranks that a list of `size` members does not
// have: its own list may be another.
void KeepRanksBelow(int size, MeshRow& row);

// What each member of the cluster is to be reached at: its own port, and the
// coordinator's at rank 0. Members without an address have none.
std::vector<MeshTarget> TargetsOf(const Cluster& cluster);
// The address of a target as the list has it.
Address AddressOf(const Cluster& cluster, const MeshTarget& target);

}  // namespace muster::netcheck
