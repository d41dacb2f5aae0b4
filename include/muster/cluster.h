// SPDX-License-Identifier: Apache-2.0
// The nouns of a cluster: members, addresses, and where each value came from.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "muster/address.h"
#include "muster/error.h"

namespace muster {

// A value and where it came from: "flag --hosts", "env TF_CONFIG", "default: no
// source describes a cluster".
template <typename T>
struct Sourced {
  T value{};           // the value
  std::string source;  // where it came from

  bool operator==(const Sourced&) const = default;
};

// One process slot of the cluster. The rank numbers all members: chief (or
// master) first, then workers, then other tasks, ps last.
struct Member {
  int rank = 0;                             // among all members
  std::string task = "worker";              // chief, worker, ps, evaluator, …
  int index = 0;                            // within the task
  std::optional<Sourced<Address>> address;  // nullopt: not in any source
  // Members with the same number are started by one agent, as torchrun starts
  // those of a node; -1: by an agent of its own.
  int node = -1;

  bool operator==(const Member&) const = default;
};

// The members and which of them this process is. A value; any thread.
struct Cluster {
  std::vector<Member> members;       // by rank, without gaps
  std::optional<Sourced<int>> self;  // rank of this process; nullopt: all ranks
  // Of member 0; nullopt: in this process, or not in any source.
  std::optional<Sourced<Address>> coordinator;
  // With its source, which explains a size of one.
  Sourced<int> size;
  bool one_host = false;  // the agent of this process starts all of them

  // Ranks that the agent of this process starts; empty: it is of none.
  std::vector<int> OwnRanks() const;
  // The map that TensorFlow calls cluster_spec: task -> addresses by index.
  std::map<std::string, std::vector<std::string>> Spec() const;
  // Members that train in step.
  int WorldSize() const;
};

// Whether a member trains in step with others: all but ps and evaluator.
bool Trains(const Member& member);

// "rank 3 (10.0.0.7:8476)", the name of a member in every message.
std::string Name(const Member& member);

}  // namespace muster
