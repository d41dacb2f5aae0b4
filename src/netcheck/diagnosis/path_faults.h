// SPDX-License-Identifier: Apache-2.0
// From N² observations to few faults: which hosts, ports, directions or links
// explain all paths that do not work. Pure.
//
// A fault is a rectangle of the matrix: all paths from some members to some
// targets show the same trouble, none of those that were tried is well. The
// widest explanation is taken first, its paths are struck out, and so on until
// no bad path is left. Of explanations that are equally wide the narrower noun
// is taken: a host before a block of paths.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "netcheck/mesh/mesh.h"

namespace muster::netcheck {

// Paths that look different and may have one root.
enum class Trouble {
  kNone,
  kUnreachable,  // no answer, no route
  kRefused,
  kUnresolved,
  kWrongMember,  // another member, or this one itself
  kStranger,
  kNotMuster,  // foreign, silent, closed
  kLargeLost,
  kSlow,  // of a path that works (mesh_speed_judge.h)
  kLate,
};
Trouble TroubleOf(Path path);

enum class FaultShape {
  kAbsentHost,      // nobody reaches a host from which no member speaks
  kLink,            // two hosts, both ways
  kDirection,       // from one host to another
  kIsolated,        // a host, both ways
  kHost,            // nobody reaches a host, whose member speaks
  kPort,            // nobody reaches one port of a host, others are well
  kOutbound,        // a host reaches nobody
  kAll,             // nobody reaches anybody
  kPortEverywhere,  // one port number, on all hosts
  kPartition,       // two groups, both ways
  kBlock,           // from one group to another
};
std::string_view ToText(FaultShape shape);

struct MeshFault {
  FaultShape shape = FaultShape::kBlock;
  Trouble trouble = Trouble::kNone;
  // Of a fault both ways: the first group; `targets` are those of the second.
  std::set<int> sources;
  std::set<MeshTarget> targets;
  // Whom it names: the hosts' ranks; of a direction both ends.
  std::set<int> named;
  // The paths that it explains, and no other fault before it.
  std::vector<std::pair<int, MeshTarget>> paths;
};

// What is judged: who stands where, who spoke, what was tried.
struct MeshView {
  std::vector<std::string> hosts;  // by rank
  std::set<int> present;           // ranks whose row is known
  std::vector<MeshTarget> targets;
  std::map<std::pair<int, MeshTarget>, Trouble> paths;  // tried ones alone
};

std::vector<MeshFault> FindFaults(const MeshView& view);

}  // namespace muster::netcheck
