// SPDX-License-Identifier: Apache-2.0
// HOST[:PORT] in the ways in which launchers write it. Pure; every error is
// cluster-spec-invalid and quotes the text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/error.h"

namespace muster::resolve {

// A host (without brackets) and the port, if one stands there. Port 0 is a
// port here: torch's launcher takes it.
struct HostAndPort {
  std::string host;
  std::optional<int> port;

  bool operator==(const HostAndPort&) const = default;
};

// HOST, HOST:PORT, [IPv6], [IPv6]:PORT, or an IPv6 literal without brackets.
Result<HostAndPort> SplitHostPort(std::string_view text);

// As torch's launcher reads a rendezvous endpoint: an empty one is localhost.
Result<HostAndPort> ParseEndpoint(std::string_view text, int default_port);

// "grpc://10.0.0.1:8470,[2001:db8::2]:8470": the list of a TPU's workers, each
// as HOST:PORT with IPv6 in brackets.
Result<std::vector<std::string>> ParseTpuEndpoints(std::string_view text,
                                                   int default_port = 8470);
// The text is such a list and no name of a TPU: it has the scheme grpc://, or
// every part is a host with a port number.
bool IsTpuEndpoints(std::string_view text);

// "host:port" with brackets around IPv6.
std::string JoinHostPort(const std::string& host, int port);

}  // namespace muster::resolve
