// SPDX-License-Identifier: Apache-2.0
#include "sys/net/socket_owner.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <functional>
#include <string>

#include "base/text.h"
#include "sys/file/fs.h"

namespace muster::sys {
namespace {

// The port of "0100007F:2103".
std::optional<std::uint16_t> PortOfEnd(std::string_view end) {
  const auto colon = end.rfind(':');
  std::uint16_t port = 0;
  const char* const last = end.data() + end.size();
  if (colon == std::string_view::npos ||
      std::from_chars(end.data() + colon + 1, last, port, 16).ptr != last) {
    return std::nullopt;
  }
  return port;
}

std::optional<std::uint16_t> PortOf(int fd, bool peer) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if ((peer ? getpeername(fd, generic, &length)
            : getsockname(fd, generic, &length)) != 0) {
    return std::nullopt;
  }
  // At the same place in both families.
  return address.ss_family == AF_INET || address.ss_family == AF_INET6
             ? std::optional(ntohs(
                   reinterpret_cast<const sockaddr_in*>(&address)->sin_port))
             : std::nullopt;
}

std::optional<uid_t> OneUser(
    const std::function<bool(const SocketRow&)>& matches) {
  std::optional<uid_t> user;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    for (const SocketRow& row : SocketRows(RealFs().Read(table).value_or(""))) {
      if (!matches(row)) {
        continue;
      }
      if (user && *user != row.user) {
        return std::nullopt;
      }
      user = row.user;
    }
  }
  return user;
}

}  // namespace

//   sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
std::vector<SocketRow> SocketRows(std::string_view table) {
  std::vector<SocketRow> rows;
  for (const auto& line : Split(table, '\n')) {
    auto words = Split(line, ' ');
    std::erase(words, "");
    if (words.size() < 10) {
      continue;
    }
    const auto local = PortOfEnd(words[1]);
    const auto remote = PortOfEnd(words[2]);
    const auto user = ParseInt(words[7]);
    const auto inode = ParseInt(words[9]);
    if (local && remote && user && inode && *inode != 0) {
      rows.push_back({.local_port = *local,
                      .remote_port = *remote,
                      .listens = words[3] == "0A",
                      .user = static_cast<uid_t>(*user)});
    }
  }
  return rows;
}

std::optional<uid_t> PeerUser(int fd) {
  const auto own = PortOf(fd, false);
  const auto their = PortOf(fd, true);
  if (!own || !their) {
    return std::nullopt;
  }
  return OneUser([&](const SocketRow& row) {
    return !row.listens && row.local_port == *their && row.remote_port == *own;
  });
}

std::optional<uid_t> ListeningUser(std::uint16_t port) {
  return OneUser([&](const SocketRow& row) {
    return row.listens && row.local_port == port;
  });
}

uid_t OwnUser() {
  return geteuid();
}

}  // namespace muster::sys
