// SPDX-License-Identifier: Apache-2.0
// TCP connections for the loop: calls that never wait.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "muster/deadline.h"
#include "muster/error.h"
#include "sys/file/fd.h"
#include "sys/net/name_lookup.h"
#include "sys/net/stream.h"

namespace muster::sys {

// An attempt that was begun. `why` is 0 (connected), EINPROGRESS (the
// descriptor becomes writable when it is decided) or the errno.
struct Dialling {
  Fd fd;
  int why = 0;
};
Dialling StartDial(const SocketAddress& address);

// What came of it: 0 or the errno. ECONNREFUSED also for a socket that met
// itself, as one may that dials a free port of its own host.
int DialOutcome(int fd);

// Closing it resets the connection: its port is free at once, also for who
// binds without SO_REUSEADDR, and what was not sent is lost.
void ResetOnClose(int fd);

// A connection that waits on a listener; nullopt: none does.
struct Accepted {
  Fd fd;
  std::string peer;  // "10.0.0.7:40312"
};
std::optional<Accepted> AcceptNow(int listener);

// "10.0.0.7:8476" of the own end and of the other; empty when it is gone.
std::string OwnEnd(int fd);
std::string OtherEnd(int fd);

// What the kernel knows of a connection; 0 also where it does not tell.
struct TcpState {
  std::uint32_t segment = 0;     // largest that is sent, bytes
  std::uint32_t unanswered = 0;  // segments sent and not acknowledged
  std::uint32_t unsent = 0;      // bytes that wait in the kernel
  std::uint32_t sent_again = 0;  // segments, over all of its life
  std::uint32_t sent = 0;        // segments, those sent again included
  // Between kernels: no process has to run for it.
  Duration least_round_trip{};
};
std::optional<TcpState> StateOf(int fd);

// The descriptor is writable only while fewer bytes than this wait in the
// kernel for their first sending.
void KeepUnsentBelow(int fd, int bytes);

// Appends what has come, at most 64 KiB. Reading millions of small frames, it
// costs less than ReadNow, which clears as much memory first.
Arrived ReceiveTcp(int fd, std::string& buffer);

// Throws away what has come, at most `most` bytes and 256 KiB.
struct Discarded {
  Arrived arrived = Arrived::kNothing;
  std::size_t bytes = 0;
};
Discarded DiscardTcp(int fd, std::uint64_t most);

// The condition of the socket that a read met: 0, or ECONNRESET and the like.
int PendingError(int fd);

}  // namespace muster::sys
