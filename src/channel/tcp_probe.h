// SPDX-License-Identifier: Apache-2.0
// Looking at an address by TCP alone: is somebody there, and what is it?
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "channel/transport.h"
#include "muster/address.h"
#include "muster/deadline.h"
#include "sys/time/clock.h"

namespace muster::channel {

// Whether a TCP connection can be made, and with which of the addresses that a
// name has. Who speaks there afterward asks no name service again: another
// library reads other files, and may hear another answer.
struct Reached {
  std::optional<ProbeResult> nobody;  // kUnresolved, kRefused or kNoAnswer
  Address at;                         // an IP address and port, unless nobody
};
// Blocks up to the deadline; any thread.
Reached Reach(const Address& address, Deadline deadline);

// What an answer to an HTTP request says of who gave it: "an HTTP server
// (`HTTP/1.1 200 OK`)", "a TLS server", "an SSH server (`…`)", "an HTTP/2 or
// gRPC server", "something (`…`)". Any bytes.
std::string NameOfAnswer(std::string_view bytes);

// A frame of type SETTINGS on stream 0, with which HTTP/2 servers begin.
bool IsHttp2(std::string_view bytes);

// For an address where an agent did not answer: sends an HTTP request and reads
// for 300 ms. kForeign names what answered, kSilent says that nothing did.
// Blocks up to the deadline; any thread.
ProbeResult ProbeAgain(const Address& address, Deadline deadline,
                       const sys::Clock& clock);

}  // namespace muster::channel
