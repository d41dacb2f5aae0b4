// SPDX-License-Identifier: Apache-2.0
// Whose process is at the other end of a connection within this host, as the
// kernel's tables of sockets have it (proc_net(5)): unlike anything that the
// other side says, they cannot be forged by it. Any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace muster::sys {

// One row of /proc/net/tcp or tcp6.
struct SocketRow {
  std::uint16_t local_port = 0;
  std::uint16_t remote_port = 0;
  bool listens = false;
  uid_t user = 0;
};
// Rows of sockets that a process holds. One that none holds (any more, or yet:
// not accepted) has no owner, though the table shows root's number.
std::vector<SocketRow> SocketRows(std::string_view table);

// The user of the process at the other end of a TCP connection on this host;
// nullopt: it is gone, or the kernel does not tell, or two users may be it.
std::optional<uid_t> PeerUser(int fd);
// The user whose processes listen on this port of the host; nullopt as above.
std::optional<uid_t> ListeningUser(std::uint16_t port);

// Of this process, effective.
uid_t OwnUser();

}  // namespace muster::sys
