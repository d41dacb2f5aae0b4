// SPDX-License-Identifier: Apache-2.0
// Names of hosts to numbers, within a deadline.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "muster/address.h"
#include "muster/deadline.h"
#include "muster/error.h"

namespace muster::sys {

// A host's number and a port, as the kernel takes it.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  const sockaddr* get() const {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
  // "10.0.0.7:8476".
  std::string Text() const;
  std::uint16_t port() const;
  void set_port(std::uint16_t port);
};

// All numbers of the host, in the order in which they should be tried.
// net-name-resolution with the resolver's word, also when it says nothing
// until the deadline. Any thread but the loop's (numbers do not wait).
Result<std::vector<SocketAddress>> Resolve(const Address& address,
                                           Deadline deadline);

}  // namespace muster::sys
