// SPDX-License-Identifier: Apache-2.0
// Taking ports: to listen on, or to hold for a rank.
#include <arpa/inet.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <random>

#include "base/text.h"
#include "sys/file/fs.h"
#include "sys/net/name_lookup.h"
#include "sys/net/net.h"
#include "sys/process/open_files.h"
#include "sys/time/clock.h"

namespace muster::sys {
namespace {

// Inodes of the sockets that listen on a port, from a table of /proc/net:
//   0: 0100007F:2103 00000000:0000 0A … inode
std::vector<std::string> ListenersOf(std::string_view table,
                                     std::uint16_t port) {
  std::array<char, 8> hex{};
  std::snprintf(hex.data(), hex.size(), ":%04X", port);
  std::vector<std::string> inodes;
  for (const auto& line : Split(table, '\n')) {
    std::vector<std::string> words;
    for (auto& word : Split(line, ' ')) {
      if (!word.empty()) {
        words.push_back(std::move(word));
      }
    }
    if (words.size() > 9 && words[1].ends_with(hex.data()) &&
        words[3] == "0A") {
      inodes.push_back("socket:[" + words[9] + "]");
    }
  }
  return inodes;
}

// Who listens on the port, as far as we may look.
std::optional<Holder> FindHolder(std::uint16_t port) {
  const RealFs fs;
  std::vector<std::string> sockets;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const auto found = ListenersOf(fs.Read(table).value_or(""), port);
    sockets.insert(sockets.end(), found.begin(), found.end());
  }
  if (sockets.empty()) {
    return std::nullopt;
  }
  const auto holders = FindHolders(sockets, 1);
  return holders.empty() ? std::nullopt : std::optional(holders.front());
}

Error InUse(const Address& address, bool look_for_holder) {
  Fact fact{.name = "port.taken",
            .fields = {{"port", std::int64_t{address.port}}},
            .subject = ToString(address),
            .by = "bind",
            .at = RealClock().EventNow()};
  std::string who = "another socket (its owner is not visible)";
  const auto holder = look_for_holder ? FindHolder(address.port) : std::nullopt;
  if (holder) {
    who = ToString(*holder);
    fact.fields["holder"] = who;
    fact.fields["pid"] = std::int64_t{holder->pid};
  }
  const std::string where =
      address.host.empty() ? "" : " of `" + address.host + "`";
  return Error(Cause::kNetPortInUse, "port " + std::to_string(address.port) +
                                         where + " is in use by " + who)
      .With(std::move(fact));
}

// "" stands for every interface, IPv6 with IPv4 where there is IPv6.
std::vector<SocketAddress> EveryInterface(std::uint16_t port) {
  std::vector<SocketAddress> addresses(2);
  auto* six = reinterpret_cast<sockaddr_in6*>(&addresses[0].storage);
  six->sin6_family = AF_INET6;
  six->sin6_addr = in6addr_any;
  addresses[0].length = sizeof *six;
  auto* four = reinterpret_cast<sockaddr_in*>(&addresses[1].storage);
  four->sin_family = AF_INET;
  addresses[1].length = sizeof *four;
  for (auto& address : addresses) {
    address.set_port(port);
  }
  return addresses;
}

Result<std::vector<SocketAddress>> ToBind(const Address& address) {
  if (address.host.empty()) {
    return EveryInterface(address.port);
  }
  return Resolve(address, Deadline::After(std::chrono::seconds(5)));
}

struct BindOptions {
  bool listen = false;
  // Also over connections of the past (TIME_WAIT).
  bool reuse = false;
  // Looking through /proc for who has the port takes milliseconds.
  bool look_for_holder = true;
};

// A bound socket and its port, or the errno.
struct Bound {
  Fd fd;
  std::uint16_t port = 0;
  int why = 0;
};

Bound Bind(const SocketAddress& address, const BindOptions& options) {
  Bound bound;
  bound.fd = Fd(
      socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int fd = bound.fd.get();
  const int on = 1;
  const int off = 0;
  if (options.reuse) {
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  }
  if (address.family() == AF_INET6) {
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  }
  SocketAddress got;
  got.length = sizeof got.storage;
  if (!bound.fd || bind(fd, address.get(), address.length) != 0 ||
      (options.listen && listen(fd, SOMAXCONN) != 0) ||
      getsockname(fd, got.get(), &got.length) != 0) {
    bound.why = errno;
    return bound;
  }
  bound.port = got.port();
  return bound;
}

Error FromBind(const Address& address, const BindOptions& options, int why) {
  if (why == EADDRINUSE) {
    return InUse(address, options.look_for_holder);
  }
  if (why == EADDRNOTAVAIL) {
    return Error(Cause::kNetWrongEndpoint,
                 "`" + address.host +
                     "` is not an address of this machine, so nothing can "
                     "listen on `" +
                     ToString(address) + "`");
  }
  if (why == EACCES) {
    return Error(
        Cause::kOsLimit,
        "port " + std::to_string(address.port) +
            " requires root privileges (EACCES): low ports are reserved");
  }
  return FromErrno("bind", ToString(address), why);
}

Result<Listening> BindFirst(const Address& address,
                            const BindOptions& options) {
  MUSTER_ASSIGN(const auto candidates, ToBind(address));
  int why = EADDRNOTAVAIL;
  for (const auto& candidate : candidates) {
    Bound bound = Bind(candidate, options);
    if (bound.why == 0) {
      return Listening{std::move(bound.fd),
                       Address{.host = address.host, .port = bound.port}};
    }
    why = bound.why;
    // A port that is in use is not escaped by way of another family; a family
    // that this machine does not have is.
    if (why == EADDRINUSE) {
      break;
    }
  }
  return FromBind(address, options, why);
}

}  // namespace

Result<Listening> Listen(const Address& address) {
  return BindFirst(address, {.listen = true, .reuse = true});
}

Result<std::vector<Listening>> HoldPorts(const std::string& host, int count,
                                         std::uint16_t first,
                                         std::uint16_t last) {
  if (last < first) {
    return Error(Cause::kUsageInvalid, "the port range " +
                                           std::to_string(first) + "-" +
                                           std::to_string(last) + " is empty");
  }
  std::vector<Listening> held;
  // A start of its own for each call: agents of one host do not compete for
  // the same port, and a restart gets others.
  const unsigned size = last - first + 1U;
  const unsigned start = size > 1 ? std::random_device()() % size : 0;
  const unsigned tries = first == 0 ? static_cast<unsigned>(count) : size;
  for (unsigned i = 0; i < tries && std::ssize(held) < count; ++i) {
    const Address address{
        .host = host,
        .port = static_cast<std::uint16_t>(first + (start + i) % size)};
    // Without reuse, so that two holders never get one port; a fixed one may
    // have connections of the past, which a server's bind passes over too.
    auto one = BindFirst(address, {.look_for_holder = size == 1});
    if (!one && one.error().cause() == Cause::kNetPortInUse && size == 1) {
      one = BindFirst(address, {.reuse = true});
    }
    if (one) {
      held.push_back(std::move(*one));
    } else if (one.error().cause() != Cause::kNetPortInUse || size == 1) {
      return std::move(one).error();
    }
  }
  if (std::ssize(held) < count) {
    return Error(Cause::kNetPortInUse,
                 "only " + std::to_string(held.size()) + " of " +
                     std::to_string(count) + " ports are free in the range " +
                     std::to_string(first) + "-" + std::to_string(last));
  }
  return held;
}

Status TakeConnections(const Listening& held) {
  if (listen(held.fd.get(), SOMAXCONN) != 0) {
    const int why = errno;
    return FromErrno("listen", ToString(held.address), why);
  }
  return Ok();
}

}  // namespace muster::sys
