// SPDX-License-Identifier: Apache-2.0
// Addresses where servers of others are expected, and who answers there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "identify/service_probe.h"
#include "identify/tcp_connection.h"
#include "muster/address.h"
#include "muster/cluster.h"
#include "muster/error.h"

namespace muster::identify {

struct Target {
  std::string text;  // as it was given: "grpc://10.0.0.2:8470"
  Address address;
  std::string protocol;             // a name of foreign/; empty: anybody
  std::optional<ForeignTask> task;  // whose place in a list it is
};

inline constexpr std::size_t kMostTargets = 256;

// SCHEME://HOST[:PORT] or HOST:PORT, several with commas between them, where
// the first one's scheme holds for all that have none. Schemes are the names of
// foreign/, https for tls, and tcp for whoever takes connections. usage-invalid
// says what is wrong, and what was probably meant.
Result<std::vector<Target>> ParseTargets(std::string_view list);

// Where the members of a cluster are expected by their framework: `tf`, every
// task at its address; `jax` and `torch`, the service of the coordinator.
// launch-env-missing: the cluster tells no address to ask.
Result<std::vector<Target>> TargetsOfFramework(const Cluster& cluster,
                                               const std::string& framework);

struct TargetSeen {
  Target target;
  std::string number;           // "10.0.0.7:8476" that answered
  std::optional<Error> missed;  // why no connection was made
  ForeignServer server;         // who answers, where one was
  Duration took{};
};

// Whether who answers is who was expected. Without an expectation: somebody
// who can be named.
bool IsExpected(const Target& target, const ForeignServer& server);

// All at once, a thread each; main thread, blocks. At most kMostTargets.
std::vector<TargetSeen> AskTargets(const std::vector<Target>& targets,
                                   const TcpWire::Options& options);

Json ToJson(const TargetSeen& seen);

}  // namespace muster::identify
