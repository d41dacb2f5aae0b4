// SPDX-License-Identifier: Apache-2.0
// What an agent says of itself at every roll call.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "finding/finding.h"
#include "muster/address.h"
#include "muster/error.h"

namespace muster::wire {

// Two agents understand each other when these numbers and the digests of their
// rules are equal; the program's version may differ in its last part only
// (0.1.3 and 0.1.7).
inline constexpr std::int64_t kProtocol = 1;        // transport and handshake
inline constexpr std::int64_t kMessageVersion = 4;  // of agent_messages.h

struct Hello {
  std::int64_t protocol = kProtocol;
  std::int64_t messages = kMessageVersion;  // 0: it does not say
  std::string rules;                        // digest of those that read logs
  std::string version;                      // of muster
  std::string cluster_key;  // digest of the member list: the same run?
  // The member list by rank, one line each (Place of cluster/members.h): so
  // that a differing one can be named, not only detected.
  std::vector<std::string> members;
  std::vector<int> ranks;  // it answers for
  std::string host;        // name of the host
  int pid = 0;
  int attempt = 0;
  WallTime clock{};
  std::string program;             // argv as one line, for people
  std::string program_digest;      // of argv and the program file
  std::string environment_digest;  // of the variables that matter
  int cores = 1;                   // that may be used at once
  // Their numbers, neighbors side by side (sys/cpu_topology.h), and the NUMA
  // node of each; empty: unknown.
  std::vector<int> core_ids, core_nodes;
  // Equal for agents on one machine (Env::MachineId); empty: unknown.
  std::string machine;
  // Of its first rank among those of the machine, in the word of who started
  // it (SLURM_LOCALID); -1: it said nothing.
  int local_rank = -1;
  // Accelerators that it sees, and the variable that restricts them
  // (CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES, TPU_VISIBLE_CHIPS).
  int devices = 0;
  std::string device_variable;
  // The variables that a launch plan looks at, as this agent has them (run's
  // PlannedVariables): only so can the coordinator say what it replaces.
  std::map<std::string, std::string> environment;
  std::vector<std::string> addresses;  // of this host's interfaces
  // Offered for this attempt, bound and held until launch: two per rank.
  std::vector<std::uint16_t> ports;
  // What was found on its host before this attempt.
  std::vector<Finding> findings;

  bool operator==(const Hello&) const = default;
};

Json ToJson(const Hello& hello);
// net-wrong-endpoint names the field that is not what an agent says. Of another
// protocol or message version only who it is is read, as far as it says so, for
// Incompatible to judge.
Result<Hello> HelloFromJson(const Json& json);
// The same from bytes of a peer.
Result<Hello> ParseHello(std::string_view bytes);

// Why the two cannot take part in one run (ver-peer-mismatch); nullopt: they
// can. Symmetric but for the order of the names in the message.
std::optional<Error> Incompatible(const Hello& ours, const Hello& theirs);

// "rank 1 (host b, pid 77)", "ranks 0 to 3 (host a, pid 5)".
std::string Who(const Hello& hello);

}  // namespace muster::wire
