// SPDX-License-Identifier: Apache-2.0
// What an agent says of itself at every roll call.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "muster/address.h"
#include "muster/error.h"

namespace muster::connect {

// Two agents understand each other when the protocol numbers are equal; the
// program's version may differ in its last part only (0.1.3 and 0.1.7).
inline constexpr std::int64_t kProtocol = 1;

struct Hello {
  std::int64_t protocol = kProtocol;
  std::string version;      // of muster
  std::string cluster_key;  // digest of the member list: the same run?
  std::vector<int> ranks;   // it answers for
  std::string host;         // name of the host
  int pid = 0;
  int attempt = 0;
  WallTime clock{};
  std::string program;             // argv as one line, for people
  std::string program_digest;      // of argv and the program file
  std::string environment_digest;  // of the variables that matter
  int cores = 1;                   // that may be used at once
  std::vector<int> core_ids;       // their numbers; empty: unknown
  // The variables that a launch plan looks at, as this agent has them (run's
  // PlannedVariables): only so can the coordinator say what it replaces.
  std::map<std::string, std::string> environment;
  std::vector<std::string> addresses;  // of this host's interfaces
  // Offered for this attempt, bound and held until launch: two per rank.
  std::vector<std::uint16_t> ports;

  bool operator==(const Hello&) const = default;
};

Json ToJson(const Hello& hello);
Result<Hello> HelloFromJson(const Json& json);

}  // namespace muster::connect
