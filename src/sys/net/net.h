// SPDX-License-Identifier: Apache-2.0
// Sockets: listening, and one bounded attempt to reach an address.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "muster/address.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "muster/fact.h"
#include "sys/file/fd.h"

namespace muster::sys {

// A TCP socket bound to host:port and listening, not SO_REUSEPORT, close-on-
// exec. Port 0 takes any. net-port-in-use names the port and, where /proc tells
// it, the process that holds it (pid, command); net-wrong-endpoint when the
// host is not an address of this machine; net-name-resolution.
struct Listening {
  Fd fd;
  Address address;
};
Result<Listening> Listen(const Address& address);

// `count` ports of [first, last] on `host`, bound and held open (bound, not
// accepting) until the Listening goes. net-port-in-use when there are not
// enough, naming the range.
Result<std::vector<Listening>> HoldPorts(const std::string& host, int count,
                                         std::uint16_t first,
                                         std::uint16_t last);
// Lets a held port take connections. os-limit.
Status TakeConnections(const Listening& held);

// One connection attempt, blocking (a WorkerPool's or gRPC's thread, never the
// loop): connected, or the cause that was observed: net-name-resolution,
// net-wrong-endpoint (refused), net-timeout-filtered (no answer, no route),
// with a fact (errno, after_ms, resolved address) as evidence.
Result<Fd> Dial(const Address& address, Deadline deadline);

// A connected pair of Unix stream sockets (rank ↔ agent), close-on-exec.
Result<std::pair<Fd, Fd>> SocketPair();

// Sends bytes with descriptors beside the first of them, and receives: what a
// rank gets with kRegistered. Blocking up to the deadline; peer-died when the
// other end is gone, deadline-exceeded.
Status SendAll(int fd, std::string_view bytes, std::span<const int> descriptors,
               Deadline deadline);
// Appends what has arrived (at least one byte) to `buffer`, descriptors to
// `descriptors` (may be null: any that come are closed).
Status ReceiveSome(int fd, std::string& buffer, std::vector<Fd>* descriptors,
                   Deadline deadline);

}  // namespace muster::sys
