// SPDX-License-Identifier: Apache-2.0
// The nouns of a cluster: members, addresses, and where each value came from.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/error.h"

namespace muster {

// A value and where it came from: "flag --hosts", "env TF_CONFIG",
// "default: nothing describes a cluster".
template <typename T>
struct Sourced {
  T value{};
  std::string source;

  bool operator==(const Sourced&) const = default;
};

// A host (name, IPv4 or IPv6 without brackets) and a port; port 0 = not given.
struct Address {
  std::string host;
  std::uint16_t port = 0;

  auto operator<=>(const Address&) const = default;

  // HOST[:PORT] or [IPv6]:PORT. cluster-spec-invalid with the position when it
  // is neither, or the port is missing and no default (not 0) is given.
  static Result<Address> Parse(std::string_view text,
                               std::uint16_t default_port = 0);
  // True for localhost, 127.0.0.0/8 and ::1. Names are not looked up.
  bool IsLoopback() const;
};

// "10.0.0.7:8476", "[::1]:8476".
std::string ToText(const Address& address);

// One process slot of the cluster. The rank numbers all members: chief (or
// master) first, then workers, then other tasks, ps last.
struct Member {
  int rank = 0;
  std::string task = "worker";  // chief, worker, ps, evaluator, …
  int index = 0;                // within the task
  std::optional<Sourced<Address>> address;  // nullopt: not told by any source

  bool operator==(const Member&) const = default;
};

// Who is there and who am I. A value; any thread.
struct Cluster {
  std::vector<Member> members;              // by rank, without holes
  std::optional<Sourced<int>> self;         // own rank; nullopt: all are ours
  std::optional<Sourced<Address>> coordinator;
  // Sourced size, so that "one process" can say why it believes so.
  Sourced<int> size;
  // Ranks that the agent of this process starts. `-n N`: all of them.
  bool one_host = false;

  // The map that TensorFlow calls cluster_spec: task -> addresses by index.
  std::map<std::string, std::vector<std::string>> Spec() const;
  // Members that train in step: all but ps and evaluator.
  int WorldSize() const;
};

// "rank 3 (10.0.0.7:8476)", the way a member is named in every message.
std::string Name(const Member& member);

}  // namespace muster
